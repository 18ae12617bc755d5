// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/level1_network/mixture/framework_selection.hpp"
#include "level1_network/auto/executor_race.hpp"
#include "level1_network/execution/plan_executor.hpp"
#include "level1_network/mixture/kept_selection.hpp"

namespace d5 {

/// Delegates to the fastest of d5's plan (itself a mixture of frameworks), for inference also a
/// plan of the fused network, and the frameworks' own executors of whole networks. They are timed
/// against each other on the first run of each kind (shapes, loss, mode). Batches in flight use the
/// plan.
class AutoExecutor final : public GraphExecutor {
 public:
  /// Whether anything but a plan can satisfy the options.
  [[nodiscard]] static bool has_rivals(const ExecutorOptions& options);

  AutoExecutor(Network network, ExecutorOptions options, SelectionOptions selection = {});

  const ValueMap& inference(const ValueMap& inputs) override;
  const ValueMap& inference_and_backprop(const ValueMap& inputs, std::string_view loss) override;
  std::unique_ptr<BatchInFlight> forward(const ValueMap& inputs,
                                         const std::vector<std::string>& outputs) override;
  const Tensor& gradient(std::string_view name) const override { return current_->gradient(name); }
  void set_loss_factor(double factor) override;
  void end_run() override { current_->end_run(); }
  bool ended_early() const override { return current_->ended_early(); }
  void set_mode(NetworkMode mode) override { plan_.set_mode(mode); }
  NetworkMode mode() const override { return plan_.mode(); }
  void plan(const ValueMap& inputs, std::string_view loss) override;
  void synchronise() override { current_->synchronise(); }
  /// State of the plan, and under "torch:torch/..." of each executor that was made.
  ValueMap state() const override;
  void restore(const ValueMap& state) override;
  Network& network() override { return plan_.network(); }
  EventList& events() override { return events_; }
  std::string framework() const override { return plan_.framework(); }

  /// Declares the inputs random, drawn by `seed`: candidates are then judged on more draws, in runs
  /// with the same shapes.
  void judge_also_on(InputDraw draw, std::uint64_t seed) {
    draw_ = std::move(draw);
    seed_ = seed;
  }

  /// Executor of the current or last run.
  [[nodiscard]] const GraphExecutor& current() const { return *current_; }
  [[nodiscard]] PlanExecutor& planned() { return plan_; }
  /// Selection of the last planned or executed run; null for a batch in flight.
  [[nodiscard]] const FrameworkSelection* selection() const {
    return choice_ ? &choice_->selection : nullptr;
  }

 private:
  struct Rival {
    std::string word;        ///< "torch:torch", "fused", "torch+reference"
    bool stands_in = false;  ///< only used if the plan gives wrong outputs
    std::shared_ptr<GraphExecutor> executor = {};
  };
  /// Choice for runs of one kind.
  struct Choice {
    std::vector<std::pair<std::string, ValueDesc>> fed;
    std::string loss;
    NetworkMode mode;
    std::uint64_t revision;
    GraphExecutor* executor;
    FrameworkSelection selection;
  };
  GraphExecutor& chosen_for(const ValueMap& inputs, const std::string& loss);
  SelectionPurpose purpose_of(const Choice& choice);
  GraphExecutor& choose(Choice& choice, const ValueMap& inputs);
  /// Records the results of a race whose first runner was the plan, called `planned`.
  static void tell(const ExecutorRace& race, const std::string& planned, const Rival* winner,
                   FrameworkSelection& selection);
  [[nodiscard]] bool can_fuse(const Choice& choice);
  /// Throws: what making it throws.
  GraphExecutor& made(Rival& rival);
  Rival* find(std::string_view word);
  /// `events_` are its.
  GraphExecutor& observed(GraphExecutor& executor);

  ExecutorOptions options_;
  SelectionOptions selection_;
  InputDraw draw_;
  std::uint64_t seed_ = 0;
  PlanExecutor plan_;
  std::vector<Rival> rivals_;
  EventList events_;
  std::vector<Choice> choices_;
  const Choice* choice_ = nullptr;
  double loss_factor_ = 1;
  GraphExecutor* current_ = &plan_;
};

/// The executor that runs on behalf of `executor`: itself, unless it delegates to others.
[[nodiscard]] const GraphExecutor& executor_behind(const GraphExecutor& executor);

}  // namespace d5

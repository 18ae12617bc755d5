// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "d5/level1_network/execution/execution_trace.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "level1_network/execution/within_run.hpp"
#include "level1_network/mixture/measured_plan.hpp"
#include "level1_network/plan/compile.hpp"
#include "level1_network/plan/plan_cache.hpp"

namespace d5 {

/// Throws: NotFound for a tensor whose gradient the plan does not compute, or without a plan.
[[nodiscard]] const Tensor& gradient_of(const Plan* plan, std::string_view name);

/// d5's own executor (`make_executor`).
class PlanExecutor final : public GraphExecutor {
 public:
  PlanExecutor(Network network, ExecutorOptions options, SelectionOptions selection = {});

  const ValueMap& inference(const ValueMap& inputs) override;
  const ValueMap& inference_and_backprop(const ValueMap& inputs, std::string_view loss) override;
  std::unique_ptr<BatchInFlight> forward(const ValueMap& inputs,
                                         const std::vector<std::string>& outputs) override;
  const Tensor& gradient(std::string_view name) const override { return gradient_of(last_, name); }

  /// From the next plan on.
  void set_update_place(UpdatePlace place) { update_place_ = place; }

  void set_loss_factor(double factor) override { state_.loss_factor = factor; }
  void end_run() override { end_wanted_ = true; }
  bool ended_early() const override { return ended_early_; }

  void set_mode(NetworkMode mode) override;
  NetworkMode mode() const override { return mode_; }

  void plan(const ValueMap& inputs, std::string_view loss) override;
  /// The plan made or run last, or null.
  [[nodiscard]] const Plan* current_plan() const { return current_; }

  void synchronise() override;
  ValueMap state() const override { return {{"runs", Tensor::scalar(std::int64_t{state_.run})}}; }
  void restore(const ValueMap& state) override;
  [[nodiscard]] PlannedMemory plan_memory(const ValueMap& inputs, std::string_view loss);

  [[nodiscard]] const ExecutorOptions& options() const { return options_; }
  Network& network() override { return network_; }
  EventList& events() override { return events_; }
  std::string framework() const override;

 private:
  class Flight;

  /// A network as it is compiled: as written, or changed by a mode.
  struct Runnable {
    std::shared_ptr<const onnx::Graph> graph;
    std::map<std::string, std::string> updates;
    NetworkMode mode;
  };

  /// Start of backward: a scalar output, outputs with given gradients, or none.
  struct Start {
    std::string_view loss = {};
    std::set<std::string> seeds = {};
    [[nodiscard]] bool goes_back() const { return !loss.empty() || !seeds.empty(); }
  };

  // Plans (executor_plans.cpp).
  Plan& plan_for(const ValueMap& inputs, std::string_view loss);
  [[nodiscard]] static bool serves(const Plan& plan, const Runnable& runnable,
                                   const ValueMap& inputs, const Start& start);
  CompileRequest request_for(const Runnable& runnable, const ValueMap& inputs, const Start& start);
  std::unique_ptr<Plan> make_plan(const Runnable& runnable, const ValueMap& inputs,
                                  const Start& start);
  void ask_for_gradients(CompileRequest& request, const Start& start);
  const Runnable& up_to_date();
  const Runnable& runnable_in(NetworkMode mode);
  /// Drops everything compiled before an edit of the network.
  void refresh();

  // Runs.
  void begin(Plan& plan, const ValueMap& inputs);
  void collect_observers();
  /// Runs with bound inputs, up to the end or to an observer's stop. `pass` backward: both passes.
  const ValueMap& run(Plan& plan, Pass pass);
  const ValueMap& finish(Plan& plan);
  /// Whether all of it ran.
  bool run_backward(Plan& plan);
  /// Runs backward only, after forward run number `run`.
  void go_back(Plan& plan, std::uint32_t run);

  Network network_;
  ExecutorOptions options_;
  SelectionOptions selection_;
  RunState state_;
  EventList events_;
  ExecutionTrace trace_{*this};
  std::vector<ExecutionEvent*> observers_;
  bool within_run_ = false;
  bool end_wanted_ = false, ended_early_ = false;  ///< for the current or last run
  ValueMap outputs_left_;                          ///< outputs of a run that ended early
  std::vector<Parameter> no_parameters_;
  NetworkMode mode_ = NetworkMode::as_written;
  UpdatePlace update_place_ = UpdatePlace::constant;
  bool switches_ = false;                      ///< it was set to another mode, and may be again
  std::map<NetworkMode, Runnable> runnables_;  ///< for the current revision
  std::uint64_t revision_ = ~std::uint64_t{0};
  PlanCache plans_;
  const Plan* last_ = nullptr;     ///< plan of the last backpropagation
  const Plan* current_ = nullptr;  ///< plan of the last run, or made since
};

}  // namespace d5

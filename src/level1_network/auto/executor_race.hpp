// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "core/measuring/turn_clock.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level1_network/mixture/framework_selection.hpp"
#include "level1_network/mixture/unchanged_tensors.hpp"
#include "level1_network/validation/network_judge.hpp"

namespace d5 {

/// Draws other input values for an executor, in one of the ways of `drawn_again`.
using InputDraw = std::function<ValueMap(std::uint64_t seed, std::size_t drawing)>;

/// Compares executors of one network on the caller's values: in turn, each as a whole. Afterwards
/// gradients, constants that runs update, and positions in random streams are restored. An executor
/// that changes its inputs, a parameter or a constant is refused, and the change is undone.
///
/// Units: seconds of `clock`.
class ExecutorRace {
 public:
  ExecutorRace(Network& network, const ValueMap& inputs, std::string loss, TurnClock clock);

  /// Adds an executor. It is refused if its outputs differ from the reference's by more than
  /// rounding; if the reference cannot run the network, the first executor is the standard.
  void add(std::string name, GraphExecutor& executor);
  /// Registers `add_others`, called once if the first executor is refused for its outputs: the
  /// executors that it adds race instead.
  void where_first_is_refused(std::function<void()> add_others) {
    add_others_ = std::move(add_others);
  }
  /// Declares the inputs random: executors are judged on three more draws before the rounds, by the
  /// seeds after `seed`, unless the earlier draws took more than `most_seconds`.
  void judge_also_on(InputDraw draw, std::uint64_t seed, double most_seconds) {
    draw_ = std::move(draw);
    seed_ = seed;
    draws_seconds_ = most_seconds;
  }
  /// Runs the rounds, in which each executor runs once or for some milliseconds, prepared as
  /// `TurnClock` says. After rounds 6 and 12 executors retire if the interval of their time's ratio
  /// to the leader's lies above 1. The race ends when one is left, after 24 rounds, or after six
  /// rounds and `most_seconds`. The winner is then judged once more, also on other inputs.
  /// Throws: Interrupted; what the first executor throws.
  void run(double most_seconds);

  /// The executor with the least median among those that never retired; empty if all are refused.
  [[nodiscard]] const std::string& winner() const { return winner_; }
  /// Measured executors, the fastest first; ratios are to the winner.
  [[nodiscard]] std::vector<FrameworkSelection::Way> ways() const;
  [[nodiscard]] const std::vector<FrameworkSelection::Refusal>& refusals() const {
    return refusals_;
  }
  /// On which they were judged.
  [[nodiscard]] int draws() const { return draws_; }

 private:
  struct Runner {
    std::string name;
    GraphExecutor* executor;
    std::vector<double> seconds = {};  ///< a round each, from the first on
    std::string refusal = {};
    double shortest = std::numeric_limits<double>::infinity();  ///< seconds of a run
    bool retired = false;
    bool compared = false;        ///< its answers with a judge's that say something
    std::string uncompared = {};  ///< why they were not
  };
  /// Stores a judge's verdict in `runner`; returns the reason for a refusal.
  [[nodiscard]] static std::string refusal_by(const Verdict& verdict, Runner& runner);
  const ValueMap& run_once(Runner& runner);
  /// Seconds per run, prepared as `TurnClock` says.
  double time(Runner& runner);

  // Judgement of outputs (executor_judgement.cpp).
  [[nodiscard]] JudgedRun judged_run(NetworkMode mode);
  void warm_up(Runner& runner, NetworkJudge& judge);
  /// Judges the runners on more draws. The first runner decides whether the network accepts the
  /// values. If the judge's outputs are not evidence, values are drawn in the next way. A runner
  /// other than the first that was never compared is refused.
  void judge_draws(std::span<Runner> runners, NetworkMode mode,
                   const std::function<void()>& begin_again);
  bool judge_draw(std::span<Runner> runners, const ValueMap& inputs, std::uint64_t seed,
                  NetworkMode mode, const std::function<void()>& begin_again);
  /// Finds the leader among the executors that are still correct after their rounds.
  void find_winner(NetworkJudge& judge);
  /// Keeps copies of what a run may not change: inputs, and tensors of the network without an
  /// update.
  void keep_what_is_read(UnchangedTensors& read) const;

  void drop_refused();
  void refuse_the_far_slower();
  void retire_the_slower();
  [[nodiscard]] const Runner& leader() const;

  Network& network_;
  const ValueMap& inputs_;
  std::string loss_;
  TurnClock clock_;
  std::function<void()> add_others_;
  InputDraw draw_;
  std::uint64_t seed_ = 0;
  double draws_seconds_ = 0;
  int draws_ = 0;
  std::vector<Runner> runners_;
  std::vector<FrameworkSelection::Refusal> refusals_;
  std::string winner_;
};

}  // namespace d5

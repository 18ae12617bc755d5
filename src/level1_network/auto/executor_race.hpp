// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/measuring/turn_clock.hpp"
#include "d5/level1_network/framework_selection.hpp"
#include "d5/level1_network/graph_executor.hpp"
#include "level1_network/mixture/unchanged_tensors.hpp"
#include "level1_network/validation/network_judge.hpp"

namespace d5 {

/// Executors of one network against each other, on the caller's values: in turn, each as a whole.
/// Afterwards gradients, constants that runs update, and places in random streams are what they
/// were. Who changes what it is fed, or a parameter or constant, is refused; that is put back.
///
/// Units: seconds of `clock`.
class ExecutorRace {
 public:
  ExecutorRace(Network& network, const ValueMap& inputs, std::string loss, TurnClock clock);

  /// Who answers otherwise than the reference, by more than rounding explains, is refused; where
  /// the reference cannot run the network, the first says what is right.
  void add(std::string name, GraphExecutor& executor);
  /// `add_others` is called once where the first is refused for its answers: those that it adds
  /// then race in its place.
  void where_first_is_refused(std::function<void()> add_others) {
    add_others_ = std::move(add_others);
  }
  /// Rounds, in which each runs once, or for some milliseconds, made ready as `TurnClock` says.
  /// After 6 and 12 those retire whose times are the leader's by a ratio whose interval lies
  /// above 1; it ends when one is left, after 24 rounds, or after six and `most_seconds`. Whoever
  /// would win is judged once more then, also on other inputs. Throws: Interrupted; what the first
  /// throws.
  void run(double most_seconds);

  /// Of those that never retired the one of the least median; empty where all are refused.
  [[nodiscard]] const std::string& winner() const { return winner_; }
  /// Those that were measured, the fastest first; ratios are to the winner.
  [[nodiscard]] std::vector<FrameworkSelection::Way> ways() const;
  [[nodiscard]] const std::vector<FrameworkSelection::Refusal>& refusals() const {
    return refusals_;
  }

 private:
  struct Runner {
    std::string name;
    GraphExecutor* executor;
    std::vector<double> seconds = {};  ///< a round each, from the first on
    std::string refusal = {};
    double shortest = std::numeric_limits<double>::infinity();  ///< seconds of a run
    bool retired = false;
  };
  const ValueMap& run_once(Runner& runner);
  /// Seconds of a run, after what `TurnClock` says.
  double time(Runner& runner);
  [[nodiscard]] JudgedRun judged_run(NetworkMode mode);
  void warm_up(Runner& runner, NetworkJudge& judge);
  /// The leader of those that still answer rightly after their rounds.
  void find_winner(NetworkJudge& judge);
  /// What a run may not change: inputs, and of the network what no update overwrites.
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
  std::vector<Runner> runners_;
  std::vector<FrameworkSelection::Refusal> refusals_;
  std::string winner_;
};

}  // namespace d5

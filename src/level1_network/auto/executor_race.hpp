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

/// Other values of what an executor is fed, drawn in one of the ways that `drawn_again` knows.
using InputDraw = std::function<ValueMap(std::uint64_t seed, std::size_t drawing)>;

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
  /// What is fed is random: who is right on it is judged on three more draws before the rounds, of
  /// the seeds after `seed`, as long as those before took no more than `most_seconds`.
  void judge_also_on(InputDraw draw, std::uint64_t seed, double most_seconds) {
    draw_ = std::move(draw);
    seed_ = seed;
    draws_seconds_ = most_seconds;
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
  /// Notes in `runner` what a judge found; what speaks against it.
  [[nodiscard]] static std::string refusal_by(const Verdict& verdict, Runner& runner);
  const ValueMap& run_once(Runner& runner);
  /// Seconds of a run, after what `TurnClock` says.
  double time(Runner& runner);

  // What they answer (executor_judgement.cpp).
  [[nodiscard]] JudgedRun judged_run(NetworkMode mode);
  void warm_up(Runner& runner, NetworkJudge& judge);
  /// Who comes first tells whether the network can take these values. Where a judge's answers say
  /// nothing they are drawn in the next way; who was never compared, and does not come first, is
  /// refused.
  void judge_draws(std::span<Runner> runners, NetworkMode mode,
                   const std::function<void()>& begin_again);
  bool judge_draw(std::span<Runner> runners, const ValueMap& inputs, std::uint64_t seed,
                  NetworkMode mode, const std::function<void()>& begin_again);
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
  InputDraw draw_;
  std::uint64_t seed_ = 0;
  double draws_seconds_ = 0;
  int draws_ = 0;
  std::vector<Runner> runners_;
  std::vector<FrameworkSelection::Refusal> refusals_;
  std::string winner_;
};

}  // namespace d5

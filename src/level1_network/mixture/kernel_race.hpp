// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "d5/core/screen/progress.hpp"
#include "d5/level1_network/mixture/framework_selection.hpp"
#include "level1_network/mixture/plan_trial.hpp"

namespace d5 {

/// Measures every node in every framework that can run it, in place: each framework runs the whole
/// network as far as it can, in turn with the others, on the caller's values.
///
/// A framework, or one of its kernels, is refused if it fails or differs from the reference by more
/// than rounding. A framework that is far behind gives its slowest nodes to others, so that the
/// rest of it can be measured quickly.
class KernelRace {
 public:
  struct Runner {
    std::string framework;
    std::unique_ptr<PlanTrial> trial = {};
    std::vector<double> totals = {};  ///< total times of its current plan, one per round
    bool lightened = false;           ///< others run nodes that it could run
  };

  KernelRace(const TrialBench& bench, double most_seconds, Progress& progress);

  /// Runs the race; with a single framework nothing is measured.
  void run();

  /// Runners that were neither refused nor dropped, the fastest first.
  [[nodiscard]] std::vector<Runner>& runners() { return runners_; }
  [[nodiscard]] const std::vector<FrameworkSelection::Refusal>& refusals() const {
    return refusals_;
  }
  [[nodiscard]] std::size_t nodes() const { return groups_.size(); }
  /// Frameworks measured in node `n`, or in an equal one.
  [[nodiscard]] std::vector<std::string> frameworks(std::size_t n) const;
  /// Samples of node `n` and its equals, in the order taken.
  [[nodiscard]] const std::vector<double>& samples(std::size_t n,
                                                   const std::string& framework) const;
  /// Their median.
  [[nodiscard]] double seconds(std::size_t n, const std::string& framework) const;

  /// The fastest framework other than `framework`; empty if there is none.
  [[nodiscard]] std::string runner_up(std::size_t n, const std::string& framework) const;

  /// Runs `trial` once. Returns false, with a refusal, if it fails or its values differ from those
  /// of the fastest runner.
  bool try_out(PlanTrial& trial, const std::string& name);

 private:
  void start(const std::string& framework);
  void expect_room(const PlanTrial& trial) const;
  void warm_up(Runner& runner);
  /// Moves nodes in which it takes `times` as long as others to those; false if there are none.
  bool lighten(Runner& runner, double times);
  void sample();
  void take_turn(Runner& runner, int samples);
  void record(Runner& runner);
  void drop_hopeless();
  void sort_runners();
  [[nodiscard]] double patience() const;

  // Judgement of results (kernel_judgement.cpp).
  struct Difference {
    std::size_t node;
    bool of_gradients;
  };
  [[nodiscard]] std::optional<Difference> difference(const PlanTrial& a, const PlanTrial& b) const;
  /// Judges the kernels. After the deadline it refuses whole runners, as each refused kernel costs
  /// a plan.
  void judge();
  [[nodiscard]] bool is_right(const Runner& runner, const Difference& where);
  /// Refuses the kernel of the framework that runs the node there.
  void refuse_kernel(Runner& runner, std::size_t node, const std::string& reason);
  void refuse(Runner& runner, const std::string& reason);

  const TrialBench& bench_;
  double most_seconds_;  ///< limit for the rounds, and for the preparation before them
  double deadline_;      ///< deadline of the preparation
  Progress& progress_;
  std::vector<Runner> runners_;
  std::vector<FrameworkSelection::Refusal> refusals_;
  std::vector<std::size_t> groups_;
  std::vector<bool> random_;
  std::vector<std::map<std::string, std::vector<double>>> samples_;  ///< keyed by group and
                                                                     ///< framework
  std::vector<std::set<std::string, std::less<>>> refused_;          ///< keyed by node
};

}  // namespace d5

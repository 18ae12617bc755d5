// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "d5/core/tensor/random.hpp"
#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/load/query_log.hpp"

namespace d5::detail {

/// A run of a scenario under way: asks the system, and hears it. Made, used and ended on one
/// thread; the answers come on any.
///
///     LoadRun run(system, options, {});
///     while (run.goes_on(scheduled)) run.ask(scheduled), run.wait_for(0);
///     return run.end();
class LoadRun {
 public:
  struct Options {
    std::int64_t samples_per_query = 1;
    LatencyFrom latency_from = LatencyFrom::schedule;
    bool settles = true;
    double percentile = 0.99;
    bool tell_answered = false;  ///< `answered` is asked
    bool chooses = false;        ///< `ask_for` is used
  };
  /// Throws: ValueError for options that do not fit.
  LoadRun(SystemUnderTest& system, const ScenarioOptions& scenario, const Options& options);
  ~LoadRun();
  LoadRun(const LoadRun&) = delete;
  LoadRun& operator=(const LoadRun&) = delete;

  [[nodiscard]] std::int64_t now() { return clock_->now(); }
  /// Moment zero of the schedule.
  [[nodiscard]] std::int64_t start() const { return start_; }
  /// Whether a query of that moment belongs to the run.
  [[nodiscard]] bool goes_on(std::int64_t scheduled) const;
  /// Queries that were asked.
  [[nodiscard]] std::int64_t asked() const { return asked_; }

  /// Waits for the moment, if it is to come, and for a place where queries in flight are bounded.
  /// False if there was none for as long as an answer may take, or if the run is that far behind
  /// its schedule. Throws: Interrupted.
  bool wait_for_turn(std::int64_t scheduled);
  /// Asks the next query. The system's exceptions are refusals.
  void ask(std::int64_t scheduled);
  /// Asks for one sample that the caller chooses.
  void ask_for(std::int64_t sample, std::int64_t scheduled);
  /// Until so many samples at most have no answer, or `until`; whether it is so. Throws:
  /// Interrupted.
  bool wait_for(std::int64_t unanswered, std::int64_t until);
  /// The same, for as long as an answer may take.
  bool wait_for(std::int64_t unanswered) { return wait_for(unanswered, now() + patience_); }
  /// Ids of samples that were answered since it was asked last, in the order of answers.
  void answered(std::vector<std::int64_t>& ids);
  /// Until something is answered, or `until`. Throws: Interrupted.
  void wait_for_answer(std::int64_t until);

  /// Waits for what has no answer yet, and says what it all amounts to.
  [[nodiscard]] ScenarioResult end();

 private:
  struct Shared;  ///< with the listener, which may outlive this
  [[nodiscard]] std::vector<std::int64_t> samples_to_load() const;
  void ask_chosen(std::int64_t scheduled);
  void wait_until(std::int64_t until);

  SystemUnderTest& system_;
  const ScenarioOptions scenario_;
  const Options options_;
  std::shared_ptr<LoadClock> clock_;
  std::shared_ptr<Shared> shared_;
  RandomStream samples_;
  std::int64_t range_ = 0, most_ = 0, patience_ = 0, start_ = 0, asked_ = 0;
  bool overdue_ = false;
  std::vector<std::int64_t> chosen_;
  std::vector<Query> queries_;
};

}  // namespace d5::detail

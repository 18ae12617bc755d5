// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "d5/core/tensor/random.hpp"
#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/load/query_log.hpp"

namespace d5::detail {

/// Throws: ValueError for a system without samples, and for options out of range. `per_query`:
/// samples in a query.
void expect_fitting(const SystemUnderTest& system, const ScenarioOptions& options,
                    std::int64_t per_query);

/// A scenario's run in progress: issues queries and records answers. One thread constructs, uses
/// and ends it; answers may arrive on any thread.
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
    bool tell_answered = false;  ///< the scenario calls `answered`
    bool chooses = false;        ///< the scenario calls `ask_for`
  };
  /// Throws: ValueError for options that do not fit.
  LoadRun(SystemUnderTest& system, const ScenarioOptions& scenario, const Options& options);
  ~LoadRun();
  LoadRun(const LoadRun&) = delete;
  LoadRun& operator=(const LoadRun&) = delete;

  [[nodiscard]] std::int64_t now() { return clock_->now(); }
  /// Start of the schedule.
  [[nodiscard]] std::int64_t start() const { return start_; }
  /// Whether a query scheduled at that time belongs to the run.
  [[nodiscard]] bool goes_on(std::int64_t scheduled);
  /// Number of issued queries.
  [[nodiscard]] std::int64_t asked() const { return asked_; }

  /// Waits for a future time, and until the limit of queries in flight permits another. Returns
  /// false if that takes longer than an answer may, or if the run is that far behind its schedule.
  /// Throws: Interrupted.
  bool wait_for_turn(std::int64_t scheduled);
  /// Issues the next query. The system's exceptions count as refusals.
  void ask(std::int64_t scheduled, const SessionTurn& place = {}, const DrawnText* text = nullptr);
  /// Issues a query for a sample that the caller chooses.
  void ask_for(std::int64_t sample, std::int64_t scheduled);
  /// Waits until at most `unanswered` samples have no answer, or until `until`. Returns false on
  /// timeout. Throws: Interrupted.
  bool wait_for(std::int64_t unanswered, std::int64_t until);
  /// The same, with the time limit of an answer.
  bool wait_for(std::int64_t unanswered) { return wait_for(unanswered, now() + patience_); }
  /// Ids of samples answered since the last call, in the order of answers.
  void answered(std::vector<std::int64_t>& ids);
  /// Waits for an answer, or until `until`. Throws: Interrupted.
  void wait_for_answer(std::int64_t until);

  /// What a scenario finds in its own run, besides what the system reports.
  using Findings = std::function<SystemReport(const ScenarioResult&)>;
  /// Waits for the missing answers and returns the result.
  [[nodiscard]] ScenarioResult end(const Findings& findings = {});

 private:
  struct Shared;  ///< state shared with the listener, which may outlive the run
  [[nodiscard]] std::vector<std::int64_t> samples_to_load() const;
  void ask_chosen(std::int64_t scheduled, const SessionTurn& place = {},
                  const DrawnText* text = nullptr);
  void wait_until(std::int64_t until);

  SystemUnderTest& system_;
  const ScenarioOptions scenario_;
  const Options options_;
  std::shared_ptr<LoadClock> clock_;
  std::shared_ptr<Shared> shared_;
  RandomStream samples_;
  std::int64_t range_ = 0, most_ = 0, patience_ = 0, start_ = 0, asked_ = 0;
  bool overdue_ = false, is_out_of_time_ = false;
  std::vector<std::int64_t> chosen_;
  std::vector<Query> queries_;
};

}  // namespace d5::detail

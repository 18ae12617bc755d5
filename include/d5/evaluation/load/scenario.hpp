// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/evaluation/load/load_clock.hpp"
#include "d5/evaluation/load/query_record.hpp"
#include "d5/evaluation/load/system_under_test.hpp"

namespace d5 {

/// What all scenarios are told. A run lasts until both the least time and the least number of
/// queries are reached, and ends before where one of the most is.
struct ScenarioOptions {
  enum class Mode {
    performance,  ///< samples are drawn, with repetition
    accuracy      ///< each sample is asked for once, in order, and every answer is kept
  };
  Mode mode = Mode::performance;
  double least_seconds = 0, most_seconds = 600;  ///< of the schedule
  std::int64_t least_queries = 100, most_queries = 10'000'000;
  std::int64_t performance_samples = 0;  ///< drawn among the first so many; 0: among all
  std::uint64_t seed = 0;                ///< of samples and arrivals
  double keep_answers = 0;               ///< share of queries whose answer is kept when timed
  std::int64_t most_in_flight = 0;       ///< unanswered queries above which asking waits; 0: any
  double answer_seconds = 60;            ///< after the last query; then those without answer failed
  double deadline_seconds = 0;           ///< a later answer is a failed one; 0: none
  /// The objective that a run must meet to be valid; 0: none. The default of `percentile` is the
  /// scenario's own.
  double latency_seconds = 0;
  double percentile = 0;
  std::string log_folder = {};  ///< for what a scenario writes besides; empty: nothing is kept
  std::shared_ptr<LoadClock> clock = {};  ///< empty: the machine's
  Interrupt interrupt = {};
};

/// Where latency begins.
enum class LatencyFrom {
  schedule,  ///< when it ought to be asked, so that waiting to be asked counts
  issue      ///< when it was asked: of users who ask once they have their answer
};

/// What a run gave. `status` is passed for a valid run, failed with the reason for one that is not:
/// unanswered or failed queries, an objective missed, too short; mistrusted where the run is valid
/// and something makes its numbers doubtful.
struct ScenarioResult {
  std::vector<QueryRecord> queries = {};  ///< by id; one a sample
  std::int64_t samples_per_query = 1;     ///< so many records in a row were asked for at once
  LatencyFrom latency_from = LatencyFrom::schedule;
  bool settles = true;       ///< latency is to reach a steady state; not of work asked all at once
  double percentile = 0.99;  ///< that stands for the run
  std::vector<KeptAnswer> answers = {};  ///< by id
  Status status = Status::passed;
  std::string reason = {};
  Conditions conditions = {};
  /// "latency" (a record a percentile), "throughput", "lag", ...: without subject, command and
  /// framework, which whoever runs the scenario knows.
  std::vector<Measurement> measurements = {};
};

/// A way of asking: one after the other, at random moments, all at once.
class Scenario {
 public:
  virtual ~Scenario() = default;
  /// Asks the system, in this process, until the run ends. What the system does wrong is told by
  /// the result. Throws: ValueError for options that do not fit; Interrupted; Unsupported where a
  /// part is missing.
  [[nodiscard]] virtual ScenarioResult run(SystemUnderTest& system,
                                           const ScenarioOptions& options) = 0;
  /// Whether it may ask before the last query is answered. If not, a system that answers on the
  /// thread that asks loses nothing.
  [[nodiscard]] virtual bool overlaps() const { return true; }
  /// Whether a system may answer several of its samples as one batch: false where each sample is
  /// asked for only once the last is answered.
  [[nodiscard]] virtual bool batches() const { return true; }
  /// How long a run lasts at least where nobody says it: as its verdict needs.
  struct Length {
    std::int64_t queries = 100;
    double seconds = 0;
  };
  [[nodiscard]] virtual Length usual_length() const { return {}; }
};

using ScenarioEntry = Entry<std::shared_ptr<Scenario>()>;
/// By name; src/evaluation/scenario/scenarios has the built-in ones.
///
///     auto result = scenarios().at("poisson").make({{"rate", 100}})->run(system, {.seed = 1});
[[nodiscard]] Registry<ScenarioEntry>& scenarios();

}  // namespace d5

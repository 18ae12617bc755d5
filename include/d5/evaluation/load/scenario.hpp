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

/// Limits that a good answer keeps, in s; 0: none. Failed and missing answers keep none.
struct AnswerLimits {
  double ttft = 0;     ///< time to the first token
  double tpot = 0;     ///< time per output token; an answer of one token keeps it
  double latency = 0;  ///< time to the whole answer
  [[nodiscard]] bool any() const { return ttft > 0 || tpot > 0 || latency > 0; }
};

/// Options of all scenarios. A run lasts until both the least time and the least number of queries
/// are reached, and ends earlier if it reaches the most of either.
struct ScenarioOptions {
  enum class Mode {
    performance,  ///< draws samples with repetition
    accuracy      ///< queries each sample once, in order, and keeps every answer
  };
  Mode mode = Mode::performance;
  double least_seconds = 0, most_seconds = 600;  ///< bounds on the schedule's length
  std::int64_t least_queries = 100, most_queries = 10'000'000;
  std::int64_t performance_samples = 0;  ///< number of first samples to draw from; 0: all
  std::uint64_t seed = 0;                ///< seed for samples and arrivals
  double keep_answers = 0;               ///< share of timed queries whose answers are kept
  std::int64_t most_in_flight = 0;  ///< limit of unanswered queries, above which it waits; 0: none
  double answer_seconds = 60;       ///< wait after the last query; unanswered queries then fail
  double deadline_seconds = 0;      ///< latency above which a query fails; 0: none
  /// Latency objective that a valid run meets; 0: none. `percentile` 0: the scenario's own.
  double latency_seconds = 0;
  double percentile = 0;
  AnswerLimits limits = {};     ///< limits of `attainment` and `goodput`, which judge no run
  std::string log_folder = {};  ///< folder for a scenario's further files; empty: none are written
  std::shared_ptr<LoadClock> clock = {};  ///< empty: the machine's
  Interrupt interrupt = {};
};

/// Start of a query's latency.
enum class LatencyFrom {
  schedule,  ///< the scheduled time of issue, so that a late issue counts
  issue      ///< the actual time of issue: a user asks again only after an answer
};

/// Result of a run. `status` is passed if the run is valid; failed, with the reason, if it is not
/// (unanswered or failed queries, a missed objective, too short); mistrusted if it is valid but its
/// numbers are doubtful.
struct ScenarioResult {
  std::vector<QueryRecord> queries = {};  ///< sorted by id; one per sample
  std::int64_t samples_per_query = 1;     ///< number of consecutive records that one query issued
  LatencyFrom latency_from = LatencyFrom::schedule;
  bool settles = true;  ///< latency should reach a steady state; false if all is issued at once
  double percentile = 0.99;             ///< percentile that represents the run
  std::vector<TokenPiece> pieces = {};  ///< pieces, where the system reports them; sorted by query
  AnswerLimits limits = {};
  std::vector<KeptAnswer> answers = {};  ///< sorted by id
  Status status = Status::passed;
  std::string reason = {};
  Conditions conditions = {};
  /// "latency" (a record per percentile), "throughput", "lag", ...; of systems that report pieces
  /// also "ttft", "itl", "tpot", ... (docs/reference/scenarios.md). The caller fills in subject,
  /// command and framework.
  std::vector<Measurement> measurements = {};
};

/// A pattern of queries: one after another, at random times, all at once.
class Scenario {
 public:
  virtual ~Scenario() = default;
  /// Queries the system, in this process, until the run ends. Errors of the system are in the
  /// result. Throws: ValueError for options that do not fit; Interrupted; Unsupported if a part is
  /// missing.
  [[nodiscard]] virtual ScenarioResult run(SystemUnderTest& system,
                                           const ScenarioOptions& options) = 0;
  /// Whether it may issue a query before the last one is answered. If not, a system loses nothing
  /// by answering on the issuing thread.
  [[nodiscard]] virtual bool overlaps() const { return true; }
  /// Whether a system may answer several of its samples as one batch: false if each sample is
  /// issued only after the last answer.
  [[nodiscard]] virtual bool batches() const { return true; }
  /// Default minimum length of a run: what its verdict needs.
  struct Length {
    std::int64_t queries = 100;
    double seconds = 0;
  };
  [[nodiscard]] virtual Length usual_length() const { return {}; }
};

using ScenarioEntry = Entry<std::shared_ptr<Scenario>()>;
/// All scenarios by name; src/evaluation/scenario/scenarios has the built-in ones.
///
///     auto result = scenarios().at("poisson").make({{"rate", 100}})->run(system, {.seed = 1});
[[nodiscard]] Registry<ScenarioEntry>& scenarios();

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/metric.hpp"
#include "d5/core/statistics.hpp"

namespace d5 {

enum class Status { passed, failed, mistrusted, skipped, unsupported };
[[nodiscard]] std::string_view name_of(Status status);

/// The one record of everything that d5 measures or checks, at any level.
struct Measurement {
  std::string subject;    ///< what was run: "Conv n=16 c=3 ...", "lenet", "mnist-lenet.yaml"
  std::string command;    ///< a line that runs it again
  std::string level;      ///< "operator", "network", "training", "distributed"
  std::string framework;  ///< "reference", "torch"
  std::string framework_version;
  std::string device = "cpu";
  std::string metric;  ///< "time", "error", ...
  std::string unit;    ///< SI: "s", "byte", "1"
  Direction direction = Direction::lower_is_better;
  std::vector<double> samples;  ///< all of them, in the order taken
  Status status = Status::passed;
  std::string reason;  ///< of every status but passed; never empty there
  /// What else was fixed: "cache": "hot", "repetitions": "128", "warmup": "3", "rank": "1".
  std::map<std::string, std::string, std::less<>> conditions;
};

struct MeasureOptions {
  int samples = 30;                 ///< at least
  int warmup = 3;                   ///< runs that are not sampled
  double seconds_per_sample = 1e-4; ///< small subjects are batched until a sample lasts this long
  double most_seconds = 60;         ///< past it sampling ends; fewer than 30 samples are mistrusted
  bool cold_cache = false;          ///< evict the last-level cache before each run (no batching)
};

/// One thing that can be run again and again. `prepare` runs before each sample, outside the clock.
struct Subject {
  std::string name;
  std::function<void()> run;
  std::function<void()> prepare = {};
  std::function<void()> synchronise = {};  ///< waits for a device before the clock is read
};

/// Runs `subject` and returns one record a metric. The subject's exception becomes a failed record.
[[nodiscard]] std::vector<Measurement> measure(const Subject& subject,
                                               std::vector<std::shared_ptr<Metric>> metrics,
                                               const MeasureOptions& options = {});

/// Wall-clock time of several subjects, interleaved in random order round by round, so that drift
/// of the machine meets all alike. One record a subject, samples paired by index.
[[nodiscard]] std::vector<Measurement> measure_interleaved(const std::vector<Subject>& subjects,
                                                           const MeasureOptions& options = {},
                                                           std::uint64_t seed = 0);

/// What reading the monotonic clock costs and resolves here, measured once.
struct ClockCost {
  double seconds_per_read;
  double resolution_seconds;
};
[[nodiscard]] ClockCost clock_cost();

/// Seconds on the monotonic clock, from an arbitrary start.
[[nodiscard]] double now_seconds();

}  // namespace d5

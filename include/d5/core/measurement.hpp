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
  std::string subject = {};    ///< what was run: "Conv n=16 c=3 ...", "lenet", "mnist-lenet.yaml"
  std::string command = {};    ///< a line that runs it again
  std::string level = {};      ///< "operator", "network", "training", "distributed"
  std::string framework = {};  ///< "reference", "torch"
  std::string framework_version = {};
  std::string device = "cpu";
  std::string metric = {};  ///< "time", "error", ...
  std::string unit = {};    ///< SI: "s", "byte", "1"
  Direction direction = Direction::lower_is_better;
  std::vector<double> samples = {};  ///< all of them, in the order taken
  Status status = Status::passed;
  std::string reason = {};  ///< of every status but passed; never empty there
  /// What else was fixed: "cache": "hot", "repetitions": "128", "warmup": "3", "rank": "1".
  std::map<std::string, std::string, std::less<>> conditions = {};
};

struct MeasureOptions {
  int samples = 30;                  ///< of each metric that leaves it open; fewer are mistrusted
  int warmup = 3;                    ///< runs that are not sampled
  double seconds_per_sample = 1e-4;  ///< small subjects are batched until a sample lasts this long
  double most_seconds = 60;          ///< past it sampling ends, after one sample at least
  bool cold_cache = false;           ///< evict the last-level cache before each run (no batching)
};

/// One thing that can be run again and again.
struct Subject {
  std::string name = {};
  std::function<void()> run = {};
  std::function<void()> prepare = {};      ///< before each sample, outside the clock
  std::function<void()> synchronise = {};  ///< waits for a device before the clock is read
};

/// Runs `subject` and returns one record a metric, in their order.
///
/// A subject that throws makes a failed record (`Unsupported` an unsupported one) with its message.
/// A number is mistrusted, with the reason, if it has too few samples, if the clock is too coarse
/// for it, or if the samples drift. Throws: ValueError for a metric that has measured already, or
/// options outside their range.
[[nodiscard]] std::vector<Measurement> measure(const Subject& subject,
                                               std::vector<std::shared_ptr<Metric>> metrics,
                                               const MeasureOptions& options = {});

/// Wall-clock time of several subjects, interleaved in random order round by round, so that drift
/// of the machine meets all alike. One record a subject, samples paired by index: `compare` them.
[[nodiscard]] std::vector<Measurement> measure_interleaved(const std::vector<Subject>& subjects,
                                                           const MeasureOptions& options = {},
                                                           std::uint64_t seed = 0);

/// Sets `result` to mistrusted with `reason`; a status that is already worse is kept.
void mistrust(Measurement& result, const std::string& reason);

/// What reading the monotonic clock costs and resolves here, measured once.
struct ClockCost {
  double seconds_per_read;
  double resolution_seconds;  ///< the smallest step between two readings that differ
};
[[nodiscard]] ClockCost clock_cost();

/// Seconds on the monotonic clock, from an arbitrary start.
[[nodiscard]] double now_seconds();

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "core/measuring/metric_runs.hpp"
#include "d5/core/measuring/measure.hpp"

namespace d5::detail {

/// Memory of twice the last-level cache; walking through it drives everything else out.
class ColdCache {
 public:
  ColdCache();
  /// Writes every cache line, on all threads, so that each core's own caches are emptied too.
  void evict();
  [[nodiscard]] std::size_t bytes() const { return lines_.size() * sizeof(Line); }

 private:
  struct alignas(64) Line {
    unsigned char bytes[64];
  };
  std::vector<Line> lines_;
};

/// One subject on its way through warm-up, calibration and samples.
class SubjectRunner {
 public:
  /// All outlive it; `cold_cache` may be null.
  SubjectRunner(const Subject& subject, const MeasureOptions& options, ColdCache* cold_cache)
      : subject_(subject), options_(options), cold_cache_(cold_cache) {}

  /// Warm-up, then the number of calls in one sample: doubled until they last long enough. Nothing
  /// for a subject that runs once. `deadline` is on `now_seconds`'s clock.
  void start(double deadline);
  /// After another subject has run: waits until its idle threads no longer spin on the cores that
  /// this one needs, then warms up again.
  void settle();
  /// One run that `metrics` watch.
  void sample(MetricRuns& metrics);
  /// What is known of every record: the subject's, and how it was run.
  [[nodiscard]] Measurement record() const;
  [[nodiscard]] double shortest_seconds() const { return shortest_; }

 private:
  void prepare();
  /// Seconds that the calls of one sample take, one after the other.
  [[nodiscard]] double time_run() const;

  const Subject& subject_;
  const MeasureOptions& options_;
  ColdCache* cold_cache_;
  int repetitions_ = 1;
  int warmups_ = 0;
  double shortest_ = std::numeric_limits<double>::infinity();  ///< sample, in seconds
};

}  // namespace d5::detail

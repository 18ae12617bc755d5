// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "core/measuring/metric_runs.hpp"
#include "d5/core/measuring/measure.hpp"

namespace d5::detail {

/// Memory of twice the size of the last-level cache; writing to it evicts everything else.
class ColdCache {
 public:
  ColdCache();
  /// Writes every cache line, on all threads, so that each core's private caches are evicted too.
  void evict();
  [[nodiscard]] std::size_t bytes() const { return lines_.size() * sizeof(Line); }

 private:
  struct alignas(64) Line {
    unsigned char bytes[64];
  };
  std::vector<Line> lines_;
};

/// Runs a subject: warm-up, calibration and samples.
class SubjectRunner {
 public:
  /// All must outlive it; `cold_cache` may be null.
  SubjectRunner(const Subject& subject, const MeasureOptions& options, ColdCache* cold_cache)
      : subject_(subject), options_(options), cold_cache_(cold_cache) {}

  /// Warms up, then calibrates the number of calls per sample: doubled until they last long enough.
  /// Does nothing for a subject that runs once. `deadline` is on `now_seconds`'s clock.
  void start(double deadline);
  /// Called after another subject has run: waits until its idle threads stop spinning on this one's
  /// cores, then warms up again.
  void settle();
  /// Takes one sample, observed by `metrics`.
  void sample(MetricRuns& metrics);
  /// The common part of the subject's records: its own, and how it was run.
  [[nodiscard]] Measurement record() const;
  [[nodiscard]] double shortest_seconds() const { return shortest_; }

 private:
  void prepare();
  /// Time of the consecutive calls in one sample, in seconds.
  [[nodiscard]] double time_run() const;

  const Subject& subject_;
  const MeasureOptions& options_;
  ColdCache* cold_cache_;
  int repetitions_ = 1;
  int warmups_ = 0;
  double shortest_ = std::numeric_limits<double>::infinity();  ///< shortest sample, in seconds
};

}  // namespace d5::detail

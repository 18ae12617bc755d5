// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace d5 {

/// A number of events, and their duration in all.
struct CountedDuration {
  std::int64_t count = 0;
  std::int64_t ns = 0;
  void add(std::int64_t more_ns) {
    ++count;
    ns += more_ns;
  }
  bool operator==(const CountedDuration&) const = default;
};

/// Durations by size, for Prometheus.
struct DurationHistogram {
  /// Upper ends of the buckets in s; one more bucket has the rest.
  static constexpr std::array<double, 14> kEnds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                   0.1,    0.25,  0.5,    1,     2.5,  5,     10};
  std::array<std::int64_t, kEnds.size() + 1> buckets = {};
  std::int64_t ns = 0;  ///< sum of all
  void add(std::int64_t more_ns);
};

/// Executions of one batch size.
struct InferenceBatchStatistics {
  std::int64_t samples = 0;
  CountedDuration compute_input, compute_infer, compute_output;
};

/// Statistics of a model since it was opened.
///
/// Source: Triton, "Statistics Extension". Durations of a request: `queue` until its first sample
/// is taken by an instance; `compute_input`, `compute_infer`, `compute_output` are those of all
/// executions that had a sample of it.
struct InferenceModelStatistics {
  std::string name, version;
  std::int64_t last_inference = 0;  ///< time of the last request, in ms since 1970; 0: none
  std::int64_t samples = 0;         ///< samples of successful requests
  std::int64_t executions = 0;      ///< successful calls of the model, each of a batch
  CountedDuration success, fail;    ///< requests, from begin to end
  CountedDuration queue, compute_input, compute_infer, compute_output;  ///< successful requests
  std::vector<InferenceBatchStatistics> batches = {};                   ///< by size
  DurationHistogram success_times = {}, queue_times = {};               ///< successful requests
  std::int64_t waiting = 0;  ///< requests now in the queue, none of whose samples is taken
};

}  // namespace d5

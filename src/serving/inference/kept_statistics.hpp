// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>

#include "d5/serving/inference/inference_statistics.hpp"
#include "serving/inference/request_rows.hpp"

namespace d5::detail {

/// Durations of a request in ns.
struct RequestTimes {
  std::int64_t all = 0, queue = 0, compute_input = 0, compute_infer = 0, compute_output = 0;
  /// Adds an execution that the request was part of.
  void add(const Execution& execution);
};

/// Statistics of one model. Thread safety: all functions.
class KeptStatistics {
 public:
  void add_executions(std::span<const Execution> executions);
  void add_answer(std::int64_t samples, const RequestTimes& times);
  void add_failure(std::int64_t ns);
  /// Without name, version and waiting requests.
  [[nodiscard]] InferenceModelStatistics read() const;

 private:
  mutable std::mutex mutex_;
  InferenceModelStatistics all_;
  std::map<std::int64_t, InferenceBatchStatistics> batches_;
};

}  // namespace d5::detail

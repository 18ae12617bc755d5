// SPDX-License-Identifier: Apache-2.0
#include "serving/inference/kept_statistics.hpp"

#include <algorithm>
#include <chrono>

namespace d5 {

void DurationHistogram::add(std::int64_t more_ns) {
  const double seconds = double(more_ns) * 1e-9;
  const auto bucket = std::ranges::lower_bound(kEnds, seconds);  // an end belongs to its bucket
  ++buckets.at(std::size_t(bucket - kEnds.begin()));
  ns += more_ns;
}

namespace detail {
namespace {

std::int64_t ms_since_1970() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

}  // namespace

void RequestTimes::add(const Execution& execution) {
  compute_input += execution.input_ns;
  compute_infer += execution.infer_ns;
  compute_output += execution.output_ns;
}

void KeptStatistics::add_executions(std::span<const Execution> executions) {
  const std::lock_guard lock(mutex_);
  for (const Execution& execution : executions) {
    ++all_.executions;
    InferenceBatchStatistics& batch = batches_[execution.rows];
    batch.samples = execution.rows;
    batch.compute_input.add(execution.input_ns);
    batch.compute_infer.add(execution.infer_ns);
    batch.compute_output.add(execution.output_ns);
  }
}

void KeptStatistics::add_answer(std::int64_t samples, const RequestTimes& times) {
  const std::lock_guard lock(mutex_);
  all_.last_inference = ms_since_1970();
  all_.samples += samples;
  all_.success.add(times.all);
  all_.queue.add(times.queue);
  all_.compute_input.add(times.compute_input);
  all_.compute_infer.add(times.compute_infer);
  all_.compute_output.add(times.compute_output);
  all_.success_times.add(times.all);
  all_.queue_times.add(times.queue);
}

void KeptStatistics::add_failure(std::int64_t ns) {
  const std::lock_guard lock(mutex_);
  all_.last_inference = ms_since_1970();
  all_.fail.add(ns);
}

InferenceModelStatistics KeptStatistics::read() const {
  const std::lock_guard lock(mutex_);
  InferenceModelStatistics read = all_;
  for (const auto& [samples, batch] : batches_) read.batches.push_back(batch);
  return read;
}

}  // namespace detail
}  // namespace d5

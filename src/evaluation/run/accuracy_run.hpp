// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "d5/evaluation/accuracy/sample_answer.hpp"
#include "evaluation/run/evaluated_model.hpp"

namespace d5::detail {

/// Answers and judges all samples of a data set once.
struct AccuracyRun {
  std::vector<Measurement> records;   ///< one per measure; a missed claim is failed
  std::vector<SampleAnswer> answers;  ///< by sample; the score is the first measure's
  PipelineReport pipeline;
};

struct AccuracyOptions {
  std::int64_t batch = 1;
  int stage_threads = 1;               ///< threads of each step before the network
  std::function<void()> sampled = {};  ///< called after each sample
  Interrupt interrupt = {};
};
/// Throws: what opening throws, and Interrupted. A sample that cannot be answered is wrong, and its
/// answer has the reason.
[[nodiscard]] AccuracyRun run_accuracy(EvaluatedModel& model, const AccuracyOptions& options);

}  // namespace d5::detail

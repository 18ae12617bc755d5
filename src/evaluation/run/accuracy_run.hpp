// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "d5/evaluation/accuracy/sample_answer.hpp"
#include "evaluation/run/evaluated_model.hpp"

namespace d5::detail {

/// All samples of a data set answered once and judged.
struct AccuracyRun {
  std::vector<Measurement> records;   ///< one a measure; a claim that is missed failed
  std::vector<SampleAnswer> answers;  ///< by sample; the score is the first measure's
  PipelineReport pipeline;
};

struct AccuracyOptions {
  std::int64_t batch = 1;
  int stage_threads = 1;               ///< of each step before the network
  std::function<void()> sampled = {};  ///< called after each sample
  Interrupt interrupt = {};
};
/// Throws: what opening throws, and Interrupted. A sample that cannot be answered is wrong, and
/// why stands in its answer.
[[nodiscard]] AccuracyRun run_accuracy(EvaluatedModel& model, const AccuracyOptions& options);

}  // namespace d5::detail

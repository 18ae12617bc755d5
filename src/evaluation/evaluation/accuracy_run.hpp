// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "d5/evaluation/sample_answer.hpp"
#include "evaluation/evaluation/evaluated_model.hpp"

namespace d5::detail {

/// All samples of a data set answered once and judged.
struct AccuracyRun {
  std::vector<Measurement> records;   ///< one a measure; a claim that is missed failed
  std::vector<SampleAnswer> answers;  ///< by sample; the score is the first measure's
};

/// `batch` samples at once; `sampled` is called after each.
/// Throws: what opening throws, and Interrupted. A sample that cannot be answered is wrong, and
/// why stands in its answer.
[[nodiscard]] AccuracyRun run_accuracy(EvaluatedModel& model, std::int64_t batch,
                                       const Interrupt& interrupt,
                                       const std::function<void()>& sampled);

}  // namespace d5::detail

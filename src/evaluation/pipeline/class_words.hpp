// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/evaluation/pipeline/answer_step.hpp"

namespace d5::detail {

/// What comes behind the last step of an answer, where the data set says what its classes are
/// called: beside `classes` (int64) it puts `labels`, as many words; "class 7" for one without.
[[nodiscard]] std::shared_ptr<const AnswerStep> class_words(std::vector<std::string> labels);

}  // namespace d5::detail

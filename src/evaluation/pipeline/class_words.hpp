// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/evaluation/pipeline/answer_step.hpp"

namespace d5::detail {

/// A final answer step for data sets with class names: adds `labels`, the names of `classes`
/// (int64); "class 7" for a class without one.
[[nodiscard]] std::shared_ptr<const AnswerStep> class_words(std::vector<std::string> labels);

}  // namespace d5::detail

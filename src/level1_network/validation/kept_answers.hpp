// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "level1_network/validation/rounding_judge.hpp"

namespace d5 {

/// What a reference answered to what `words` describe (network, inputs, versions), from the user's
/// cache, an ONNX file of constants. Nothing where none was kept, or what lies there is damaged or
/// of something else.
[[nodiscard]] std::optional<RoundedAnswers> kept_answers(const std::string& words);
/// Beside those of before; the oldest go where all of them take more than 1 GiB. Nothing is kept of
/// more than 128 MiB, of what is no tensor, and where it cannot be written: a cache is no promise.
void keep_answers(const std::string& words, const RoundedAnswers& answers);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "level1_network/validation/rounding_judge.hpp"

namespace d5 {

/// Cached outputs of a reference for the key `words` (network, inputs, versions), from the user's
/// cache, an ONNX file of constants. Empty if there are none, or the file is damaged or of another
/// key.
[[nodiscard]] std::optional<RoundedAnswers> kept_answers(const std::string& words);
/// Caches outputs; the oldest files are removed above 1 GiB in total. Skipped above 128 MiB, for
/// values that are not tensors, and if the file cannot be written.
void keep_answers(const std::string& words, const RoundedAnswers& answers);

}  // namespace d5

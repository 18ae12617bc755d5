// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/core/random.hpp"

namespace d5::fuzz {

/// The ONNX model in `bytes` with a few of its fields, at any depth, set otherwise, taken away,
/// repeated or exchanged.
[[nodiscard]] std::string with_other_fields(const std::string& bytes, RandomStream& random);

}  // namespace d5::fuzz

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/core/random.hpp"

namespace d5::fuzz {

/// A line of the case grammar (d5/level0_ops/operator_case.hpp) for one of the reference's
/// operators, as its schema in ONNX has it: inputs of allowed types, attributes of the right kind,
/// the number of outputs; shapes and numbers are small, and often fit each other.
[[nodiscard]] std::string line_by_schema(RandomStream& random);

/// One of the lines on which frameworks are compared, with a word or two changed.
[[nodiscard]] std::string changed_line(RandomStream& random);

}  // namespace d5::fuzz

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "d5/core/tensor/random.hpp"

namespace d5::fuzz {

/// Element types that a line can hold.
inline constexpr std::array<const char*, 14> kLineTypes = {
    "float32", "float64", "float16", "bfloat16", "int8",   "int16", "int32",
    "int64",   "uint8",   "uint16",  "uint32",   "uint64", "bool",  "string"};

/// A line of the case grammar (d5/level0_ops/case/operator_case.hpp) for one of the reference's
/// operators, as its schema in ONNX has it: inputs of allowed types, attributes of the right kind,
/// the number of outputs; shapes and numbers are small, and often fit each other.
[[nodiscard]] std::string line_by_schema(RandomStream& random);

/// One of the lines on which frameworks are compared, with a word or two changed.
[[nodiscard]] std::string changed_line(RandomStream& random);

}  // namespace d5::fuzz

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/core/value.hpp"
#include "d5/onnx/model.hpp"

namespace d5 {

/// One problem for one operator, as a line that runs it again.
///
/// Grammar: `Op[@opset] input... [attribute=value]...`, an input being `dtype:dims` (float32 if left
/// out), `-` for a left-out one, or `dtype:{v,v,...}` for literal values; integers in lists are
/// separated by `x`, as in `Conv 16x3x32x32 8x3x3x3 pads=1x1x1x1`.
struct OperatorCase {
  onnx::Node node;
  std::vector<Value> inputs;  ///< random ones are filled from `seed`
  std::string line;           ///< what it was parsed from
  std::uint64_t seed = 0;
};

/// Throws: FormatError with the place in the line, what was found and what was expected.
[[nodiscard]] OperatorCase parse_case(const std::string& line, std::uint64_t seed = 0);
/// Lines of a file; blank ones and those beginning with # are skipped.
[[nodiscard]] std::vector<OperatorCase> read_cases(const std::string& path, std::uint64_t seed = 0);

}  // namespace d5

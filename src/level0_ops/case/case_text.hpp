// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace d5::detail {

/// The text of an input: `int64:1x2{2,-1}`, `64x512~4`, `-`.
struct InputText {
  std::string type;                 ///< "int64:", or empty
  std::vector<std::int64_t> sizes;  ///< empty for values without a shape
  bool has_sizes = false;           ///< true for a scalar, whose `sizes` are empty
  std::vector<std::string> values;  ///< between the braces
  bool has_values = false;
  std::string rest;  ///< "%1000", "~4"
  bool left_out = false;
};

/// A case's line, parsed into editable parts.
struct CaseText {
  std::string op;
  std::vector<InputText> inputs = {};
  std::vector<std::pair<std::string, std::string>> attributes = {};  ///< including "outputs"
  std::string expected = {};                                         ///< "-> {4,6}", or empty
};

/// Splits a line that `parse_case` accepts.
[[nodiscard]] CaseText text_of_case(const std::string& line);
/// The line of the parts.
[[nodiscard]] std::string to_line(const CaseText& text);

}  // namespace d5::detail

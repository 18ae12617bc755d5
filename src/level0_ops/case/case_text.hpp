// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace d5::detail {

/// One input as a line says it: `int64:1x2{2,-1}`, `64x512~4`, `-`.
struct InputText {
  std::string type;                 ///< "int64:", or nothing
  std::vector<std::int64_t> sizes;  ///< of values without a shape, none
  bool has_sizes = false;           ///< a scalar has none of them
  std::vector<std::string> values;  ///< between the braces
  bool has_values = false;
  std::string rest;  ///< "%1000", "~4"
  bool left_out = false;
};

/// A case's line in pieces that can be changed: the words, and what they are made of.
struct CaseText {
  std::string op;
  std::vector<InputText> inputs = {};
  std::vector<std::pair<std::string, std::string>> attributes = {};  ///< "outputs" among them
  std::string expected = {};                                         ///< "-> {4,6}", or nothing
};

/// Of a line that `parse_case` reads.
[[nodiscard]] CaseText text_of_case(const std::string& line);
/// The line again.
[[nodiscard]] std::string to_line(const CaseText& text);

}  // namespace d5::detail

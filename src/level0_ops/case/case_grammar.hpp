// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstddef>
#include <string_view>
#include <system_error>
#include <vector>

namespace d5::detail {

/// A word of a case's line, and its position.
struct Word {
  std::string_view text;
  std::size_t column;
};

/// Throws: FormatError with the position, the found word and `expected`.
[[noreturn]] void refuse(const Word& word, std::string_view expected);

/// The parts between separators, including empty ones.
[[nodiscard]] std::vector<Word> split(const Word& word, char separator);

/// The words of a line, separated by blanks.
[[nodiscard]] std::vector<Word> words_of(std::string_view line);

/// Parses the whole word as a number. Throws: as `refuse`.
template <class T>
T number(const Word& word, std::string_view expected) {
  T value{};
  const char* end = word.text.data() + word.text.size();
  const auto [rest, error] = std::from_chars(word.text.data(), end, value);
  if (error != std::errc() || rest != end) refuse(word, expected);
  return value;
}

}  // namespace d5::detail

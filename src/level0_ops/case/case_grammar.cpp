// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/case/case_grammar.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

void refuse(const Word& word, std::string_view expected) {
  throw FormatError(fmt::format("case, column {}: '{}' found, expected {}", word.column + 1,
                                printable(word.text), expected));
}

std::vector<Word> split(const Word& word, char separator) {
  std::vector<Word> parts;
  for (std::size_t begin = 0; begin <= word.text.size();) {
    const std::size_t end = std::min(word.text.find(separator, begin), word.text.size());
    parts.push_back({word.text.substr(begin, end - begin), word.column + begin});
    begin = end + 1;
  }
  return parts;
}

std::vector<Word> words_of(std::string_view line) {
  std::vector<Word> words = split({line, 0}, ' ');
  std::erase_if(words, [](const Word& word) { return word.text.empty(); });
  return words;
}

}  // namespace d5::detail

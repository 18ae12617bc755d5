// SPDX-License-Identifier: Apache-2.0
#include "apps/operator_cases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

namespace d5::app {
namespace {

bool is_file(const std::string& word) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(word, ignored);
}

}  // namespace

std::vector<OperatorCase> read_case_words(const std::vector<std::string>& words,
                                          std::uint64_t seed) {
  const bool unquoted =
      words.size() > 1 && std::ranges::none_of(words, [](const std::string& word) {
        return word.find(' ') != std::string::npos || is_file(word);
      });
  if (unquoted) return {parse_case(fmt::format("{}", fmt::join(words, " ")), seed)};
  std::vector<OperatorCase> cases;
  for (const auto& word : words) {
    if (is_file(word)) {
      for (auto& one : read_cases(word, seed)) cases.push_back(std::move(one));
    } else {
      cases.push_back(parse_case(word, seed));
    }
  }
  return cases;
}

}  // namespace d5::app

// SPDX-License-Identifier: Apache-2.0
#include "core/machine/instruction_sets.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

namespace d5::detail {
namespace {

bool computes(std::string_view flag) {
  constexpr std::array<std::string_view, 9> names = {"sse4_2", "fma",     "f16c", "fphp", "bf16",
                                                     "i8mm",   "asimdhp", "v",    "zvfh"};
  constexpr std::array<std::string_view, 4> prefixes = {"avx", "amx", "asimd", "sve"};
  return std::ranges::find(names, flag) != names.end() ||
         std::ranges::any_of(prefixes, [&](auto prefix) { return flag.starts_with(prefix); });
}

}  // namespace

std::vector<std::string> instruction_sets(const std::string& flags) {
  std::vector<std::string> result;
  std::istringstream words(flags);
  for (std::string word; words >> word;) {
    if (computes(word)) result.push_back(word);
  }
  std::ranges::sort(result);
  return result;
}

}  // namespace d5::detail

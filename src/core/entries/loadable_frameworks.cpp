// SPDX-License-Identifier: Apache-2.0
#include "d5/core/entries/loadable_frameworks.hpp"

#include <algorithm>

#include "d5/core/errors/error.hpp"

namespace d5 {

std::vector<Framework*> loadable_frameworks() {
  auto known = frameworks();
  std::ranges::stable_partition(known, [](const FrameworkInfo& one) { return one.path.empty(); });
  std::vector<Framework*> result;
  for (const auto& info : known) {
    try {
      result.push_back(&framework(info.name));
    } catch (const Error&) {  // kept in `frameworks`
    }
  }
  return result;
}

std::vector<std::string> framework_words(const std::vector<std::string>& words,
                                         const FrameworkWords& words_of) {
  if (std::ranges::find(words, "all") == words.end()) return words;
  std::vector<std::string> result;
  const auto add = [&](const std::string& word) {
    if (std::ranges::find(result, word) == result.end()) result.push_back(word);
  };
  for (const auto& word : words) {
    if (word != "all") {
      add(word);
      continue;
    }
    for (Framework* one : loadable_frameworks()) {
      for (const auto& own : words_of ? words_of(*one) : std::vector{one->name()}) add(own);
    }
  }
  return result;
}

}  // namespace d5

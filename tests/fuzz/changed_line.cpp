// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>

#include "fuzz/mutation.hpp"
#include "fuzz/node_line.hpp"

namespace d5::fuzz {
namespace {

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    if (end > begin) words.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

const std::vector<std::string>& known_lines() {
  static const std::vector<std::string> lines = [] {
    std::vector<std::string> result;
    for (const char* path : {D5_SOURCE_DIR "/tests/level0_ops/framework_operators.txt",
                             D5_SOURCE_DIR "/frameworks/torch/tests/operators.txt",
                             D5_SOURCE_DIR "/tests/fuzz/lines.txt"}) {
      std::ifstream file(path);
      for (std::string line; std::getline(file, line);) {
        if (!line.empty() && line[0] != '#') result.push_back(line);
      }
    }
    return result;
  }();
  return lines;
}

void change_word(std::vector<std::string>& words, RandomStream& random) {
  const auto place = std::size_t(random.below(words.size()));
  std::string& word = words[place];
  const std::size_t colon = word.find(':');
  switch (random.below(8)) {
    case 0:
      if (words.size() > 1 && place > 0) words.erase(words.begin() + std::ptrdiff_t(place));
      return;
    case 1:
      words.insert(words.begin() + std::ptrdiff_t(place), words[place]);
      return;
    case 2:
      std::swap(word, words[std::size_t(random.below(words.size()))]);
      return;
    case 3:  // another type
      word = pick(random, kLineTypes) +
             (':' + (colon == std::string::npos ? word : word.substr(colon + 1)));
      return;
    case 4:  // a dimension or an attribute's number more
      word += fmt::format("x{}", between(random, 0, 3));
      return;
    default:
      word = with_other_number(word, random);
  }
}

}  // namespace

std::string changed_line(RandomStream& random) {
  auto words = words_of(pick(random, known_lines()));
  for (auto changes = random.below(4); changes > 0; --changes) change_word(words, random);
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace d5::fuzz

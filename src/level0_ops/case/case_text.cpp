// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/case/case_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "level0_ops/case/case_grammar.hpp"

namespace d5::detail {
namespace {

InputText text_of_input(const Word& word) {
  InputText input;
  if (word.text == "-") {
    input.left_out = true;
    return input;
  }
  std::string_view text = word.text;
  if (const auto colon = text.substr(0, text.find('{')).find(':'); colon != text.npos) {
    input.type = text.substr(0, colon + 1);
    text.remove_prefix(colon + 1);
  }
  if (const auto open = text.find('{'); open != text.npos) {
    const std::string_view list = text.substr(open + 1, text.size() - open - 2);
    input.has_values = true;
    if (!list.empty()) {
      for (const Word& value : split({list, 0}, ',')) input.values.emplace_back(value.text);
    }
    text = text.substr(0, open);
  } else if (const auto sign = text.find_first_of("%~"); sign != text.npos) {
    input.rest = text.substr(sign);
    text = text.substr(0, sign);
  }
  input.has_sizes = !text.empty();
  if (text.empty() || text == "scalar") return input;
  for (const Word& size : split({text, word.column}, 'x')) {
    input.sizes.push_back(number<std::int64_t>(size, "a size"));
  }
  return input;
}

std::string to_word(const InputText& input) {
  if (input.left_out) return "-";
  std::string word = input.type;
  if (input.has_sizes) {
    word += input.sizes.empty() ? "scalar" : fmt::format("{}", fmt::join(input.sizes, "x"));
  }
  if (input.has_values) word += fmt::format("{{{}}}", fmt::join(input.values, ","));
  return word + input.rest;
}

}  // namespace

CaseText text_of_case(const std::string& line) {
  const std::vector<Word> words = words_of(line);
  CaseText text{.op = std::string(words.at(0).text)};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i].text;
    if (word == "->") {
      text.expected = line.substr(words[i].column);
      break;
    }
    const std::size_t equals = word.find('=');
    if (equals == word.npos || equals > word.find('{')) {
      text.inputs.push_back(text_of_input(words[i]));
    } else {
      text.attributes.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    }
  }
  return text;
}

std::string to_line(const CaseText& text) {
  std::string line = text.op;
  for (const auto& input : text.inputs) line += " " + to_word(input);
  for (const auto& [name, value] : text.attributes) line += " " + name + "=" + value;
  if (!text.expected.empty()) line += " " + text.expected;
  return line;
}

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/case/case_ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/size_range.hpp"
#include "level0_ops/case/case_grammar.hpp"

namespace d5::detail {
namespace {

constexpr std::size_t kMostCases = 100'000;

struct Name {
  Word word;  ///< the whole definition: "m=1,2"
  std::string_view name;
  std::vector<std::string> values;
};

[[noreturn]] void refuse_number(const Word& word) {
  refuse(word, fmt::format("values that make at most {} cases, all names together", kMostCases));
}

/// Expands `low..high` with `+step` or `*factor`; the default step is 1.
void add_range(const Word& word, std::size_t dots, std::vector<std::string>& values) {
  const auto part = [&](std::size_t begin, std::size_t end) {
    return number<std::int64_t>({word.text.substr(begin, end - begin), word.column + begin},
                                "an integer of a range as 1..8, 0..64+16 or 16..1024*2");
  };
  const std::size_t sign = std::min(word.text.find_first_of("+*", dots), word.text.size());
  const bool steps = sign == word.text.size() || word.text[sign] == '+';
  const std::int64_t low = part(0, dots), high = part(dots + 2, sign);
  const std::int64_t by = sign == word.text.size() ? 1 : part(sign + 1, word.text.size());
  if (low > high) refuse(word, "a range that goes up");
  if (steps && by < 1) refuse(word, "a step of 1 or more");
  if (!steps && (by < 2 || low < 1)) refuse(word, "a factor of 2 or more, from 1 or more");
  for (std::int64_t value = low;;) {
    values.push_back(fmt::format("{}", value));
    if (values.size() > kMostCases) refuse_number(word);
    std::int64_t next = 0;
    const bool overflows =
        steps ? __builtin_add_overflow(value, by, &next) : __builtin_mul_overflow(value, by, &next);
    if (overflows || next > high) return;
    value = next;
  }
}

/// The values between commas, with ranges expanded; refuses `whole` if a value is empty.
std::vector<std::string> read_values(const Word& list, const Word& whole) {
  std::vector<std::string> values;
  for (const Word& value : split(list, ',')) {
    if (value.text.empty()) refuse(whole, "a value on both sides of every comma");
    if (const std::size_t dots = value.text.find(".."); dots != std::string_view::npos) {
      add_range(value, dots, values);
    } else {
      values.emplace_back(value.text);
    }
  }
  return values;
}

Name read_name(const Word& word) {
  const std::size_t equals = word.text.find('=');
  Name result{word, word.text.substr(0, equals), {}};
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  if (equals == std::string_view::npos || equals == 0 ||
      result.name.find_first_not_of(kLetters) != std::string_view::npos) {
    refuse(word, "a name of letters and its values, as m=64,128");
  }
  result.values = read_values({word.text.substr(equals + 1), word.column + equals + 1}, word);
  return result;
}

/// A case split at its variables in braces.
class Template {
 public:
  Template(std::string_view text, const std::vector<Name>& names) {
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t open = text.find('{', begin), close = text.find('}', open);
      const auto place =
          close == std::string_view::npos
              ? names.end()
              : std::ranges::find(names, text.substr(open + 1, close - open - 1), &Name::name);
      // Other braces belong to literals.
      const std::size_t end = place != names.end() ? open : std::min(open, text.size() - 1) + 1;
      parts_.push_back({text.substr(begin, end - begin), {}});
      begin = end;
      if (place == names.end()) continue;
      parts_.back().name = std::size_t(place - names.begin());
      begin = close + 1;
    }
  }

  [[nodiscard]] bool has(std::size_t name) const {
    return std::ranges::find(parts_, name, &Part::name) != parts_.end();
  }

  /// The line with value `chosen[i]` for variable `i`.
  [[nodiscard]] std::string filled(const std::vector<Name>& names,
                                   const std::vector<std::size_t>& chosen) const {
    std::string line;
    for (const auto& [text, name] : parts_) {
      line += text;
      if (name) line += names[*name].values[chosen[*name]];
    }
    return line;
  }

 private:
  struct Part {
    std::string_view text;
    std::optional<std::size_t> name;  ///< variable after the text
  };
  std::vector<Part> parts_;
};

CaseSweep sweep_of(std::string_view problem, const std::vector<Name>& names,
                   const std::vector<std::size_t>& chosen) {
  CaseSweep sweep{.line = std::string(problem) + " for"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string name(names[i].name), &value = names[i].values[chosen[i]];
    sweep.line += fmt::format(" {}={}", name, value);
    sweep.values[name] = {typed_value(value), Role::identity};
  }
  return sweep;
}

}  // namespace

std::vector<ExpandedLine> without_ranges(const std::string& line) {
  const auto words = words_of(line);
  const auto keyword = std::ranges::find(words, "for", &Word::text);
  if (keyword == words.end()) return {{line}};
  std::vector<Name> names;
  std::size_t cases = 1;
  for (auto word = keyword + 1; word != words.end(); ++word) {
    Name name = read_name(*word);
    if (std::ranges::find(names, name.name, &Name::name) != names.end()) {
      refuse(*word, "a name that has no values yet");
    }
    cases *= name.values.size();
    if (cases > kMostCases) refuse_number(*word);
    names.push_back(std::move(name));
  }
  if (names.empty()) refuse(*keyword, "names after it, as m=64,128");
  std::string_view text = std::string_view(line).substr(0, keyword->column);
  text = text.substr(0, text.find_last_not_of(' ') + 1);
  const Template problem(text, names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (problem.has(i)) continue;
    refuse(names[i].word,
           fmt::format("a name that is used before 'for', as {{{}}}", names[i].name));
  }
  std::vector<ExpandedLine> lines;
  std::vector<std::size_t> chosen(names.size());
  while (lines.size() < cases) {
    lines.push_back({problem.filled(names, chosen), sweep_of(text, names, chosen)});
    // The last variable varies fastest.
    for (std::size_t i = names.size(); i-- > 0 && ++chosen[i] == names[i].values.size();) {
      chosen[i] = 0;
    }
  }
  return lines;
}

}  // namespace d5::detail

namespace d5 {

std::vector<std::int64_t> sizes_from(const std::string& text) {
  constexpr const char* kExpected = "sizes of 1 or more, as 1,4,16 or 1..64*2";
  std::vector<std::int64_t> sizes;
  try {
    const detail::Word list{text, 0};
    for (const auto& value : detail::read_values(list, list)) {
      sizes.push_back(detail::number<std::int64_t>({value, 0}, kExpected));
      if (sizes.back() < 1) detail::refuse({value, 0}, kExpected);
    }
  } catch (const FormatError&) {
    throw ValueError(fmt::format("'{}': expected {}", printable(text), kExpected));
  }
  return sizes;
}

}  // namespace d5

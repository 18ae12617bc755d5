// SPDX-License-Identifier: Apache-2.0
#include "core/results/result_notes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>

#include "d5/core/errors/error.hpp"
#include "d5/core/tables/wrapped_text.hpp"

namespace d5::detail {
namespace {

/// `reason` without its numbers.
std::string reason_key(std::string_view reason) {
  std::string key;
  for (const char c : reason) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) key += c;
    if (digit && !key.ends_with('#')) key += '#';
  }
  return key;
}

/// `mistrust` joins several reasons; an exception is a single one.
std::vector<std::string> reasons_of(const Measurement& m) {
  return m.status == Status::mistrusted ? reasons_in(m.reason) : std::vector{m.reason};
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == ' ') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

/// A word that begins with a number: "15", "22%", "3,".
struct NumberWord {
  double value;
  std::string number, rest;
};
std::optional<NumberWord> number_word(const std::string& word) {
  double value = 0;
  const char* const end_of_word = word.data() + word.size();
  const auto [end, error] = std::from_chars(word.data(), end_of_word, value);
  const bool is_one = error == std::errc() && std::all_of(end, end_of_word, [](char c) {
                        return std::string_view("%,;:.)").find(c) != std::string_view::npos;
                      });
  if (!is_one) return std::nullopt;
  return NumberWord{value, std::string(word.data(), end), std::string(end, end_of_word)};
}

/// Merges texts that differ only in numbers, "7 to 15 samples"; nothing if a differing number is
/// within a word.
std::optional<std::string> in_ranges(const std::vector<std::string>& texts) {
  std::vector<std::vector<std::string>> all;
  for (const auto& text : texts) all.push_back(words_of(text));
  std::string result;
  for (std::size_t i = 0; i < all.front().size(); ++i) {
    std::string word = all.front()[i];
    const bool same = std::ranges::all_of(
        all, [&](const auto& words) { return words.size() > i && words[i] == word; });
    if (!same) {
      std::vector<NumberWord> numbers;
      for (const auto& words : all) {
        const auto number = number_word(words[i]);
        if (!number) return std::nullopt;
        numbers.push_back(*number);
      }
      const auto [low, high] = std::ranges::minmax_element(numbers, {}, &NumberWord::value);
      word = low->number + " to " + high->number + high->rest;
    }
    result += (i == 0 ? "" : " ") + word;
  }
  return result;
}

}  // namespace

std::vector<std::string> reasons_in(std::string_view joined) {
  constexpr std::string_view kBetween = "; ";
  std::vector<std::string> reasons;
  while (joined.find(kBetween) != std::string_view::npos) {
    reasons.emplace_back(joined.substr(0, joined.find(kBetween)));
    joined.remove_prefix(reasons.back().size() + kBetween.size());
  }
  reasons.emplace_back(joined);
  return reasons;
}

std::size_t ResultNotes::number_of(const std::string& reason) {
  const std::string key = reason_key(reason);
  auto place = std::ranges::find(notes_, key, &Note::key);
  if (place == notes_.end()) place = notes_.insert(place, {.key = key});
  ++place->rows;
  auto& texts = place->texts;
  if (std::ranges::find(texts, reason) == texts.end()) texts.push_back(reason);
  return std::size_t(place - notes_.begin()) + 1;
}

std::string ResultNotes::status_of(const Measurement& m) {
  std::string text(name_of(m.status));
  if (m.status == Status::passed) return text;
  std::set<std::size_t> numbers;
  for (const auto& reason : reasons_of(m)) numbers.insert(number_of(reason));
  return fmt::format("{} [{}]", text, fmt::join(numbers, ","));
}

std::vector<std::string> ResultNotes::reasons() const {
  std::vector<std::string> reasons;
  for (const Note& note : notes_) {
    const auto all = in_ranges(note.texts);
    std::string& text = reasons.emplace_back(printable_message(all ? *all : note.texts.front()));
    if (!all) {
      text +=
          fmt::format(" (and alike in {} more {})", note.rows - 1, note.rows == 2 ? "row" : "rows");
    }
  }
  return reasons;
}

std::string ResultNotes::to_text() const {
  std::string text;
  const auto all = reasons();
  for (std::size_t i = 0; i < all.size(); ++i) text += fmt::format("[{}] {}\n", i + 1, all[i]);
  return text;
}

std::string ResultNotes::below_table(Format format, int width) const {
  const std::string notes = to_text();
  if (notes.empty()) return "";
  if (format != Format::markdown) return '\n' + wrapped(notes, width);
  std::string lines;
  for (std::size_t at = 0; at < notes.size(); at = notes.find('\n', at) + 1) {
    lines += "- " + notes.substr(at, notes.find('\n', at) - at) + '\n';
  }
  return '\n' + lines;
}

}  // namespace d5::detail

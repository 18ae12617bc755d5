// SPDX-License-Identifier: Apache-2.0
#include "core/results/result_notes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "d5/core/error.hpp"

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

/// `mistrust` joins several reasons; what was thrown is one.
std::vector<std::string> reasons_of(const Measurement& m) {
  constexpr std::string_view kBetween = "; ";
  std::vector<std::string> reasons;
  std::string_view rest = m.reason;
  while (m.status == Status::mistrusted && rest.find(kBetween) != std::string_view::npos) {
    reasons.emplace_back(rest.substr(0, rest.find(kBetween)));
    rest.remove_prefix(reasons.back().size() + kBetween.size());
  }
  reasons.emplace_back(rest);
  return reasons;
}

}  // namespace

std::size_t ResultNotes::number_of(const std::string& reason) {
  const std::string key = reason_key(reason);
  auto place = std::ranges::find(notes_, key, &Note::key);
  if (place == notes_.end()) place = notes_.insert(place, {.key = key, .text = reason});
  ++place->rows;
  place->differ = place->differ || place->text != reason;
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
    std::string& text = reasons.emplace_back(printable_message(note.text));
    if (note.differ) {
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

}  // namespace d5::detail

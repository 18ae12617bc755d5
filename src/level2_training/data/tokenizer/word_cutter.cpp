// SPDX-License-Identifier: Apache-2.0
// The patterns look ahead, which RE2 cannot: each is written out, alternative by alternative, as a
// backtracking engine would try them.
#include "level2_training/data/tokenizer/word_cutter.hpp"

#include <algorithm>
#include <array>

#include "level2_training/data/tokenizer/character.hpp"

namespace d5::detail {
namespace {

/// Returns the end of the characters of a class that begin at `at`, at most so many of them.
std::size_t end_of_run(std::string_view text, std::size_t at, CharacterClass kind,
                       std::size_t most = std::string_view::npos) {
  for (std::size_t count = 0; at < text.size() && count < most; ++count) {
    const ClassedCharacter here = character_at(text, at);
    if (here.kind != kind) break;
    at += here.length;
  }
  return at;
}

bool is_line_end(char c) { return c == '\r' || c == '\n'; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; }
char same(char c) { return c; }

/// Length of `'s`, `'t`, `'re`, `'ve`, `'m`, `'ll` or `'d` at the beginning, or 0.
std::size_t contraction(std::string_view text, char (*folded)(char) = same) {
  constexpr std::array<std::string_view, 7> kEnds{"s", "t", "re", "ve", "m", "ll", "d"};
  if (text.front() != '\'') return 0;
  const std::string_view rest = text.substr(1);
  for (const std::string_view end : kEnds) {
    const bool is_there = rest.size() >= end.size() &&
                          std::ranges::equal(rest.substr(0, end.size()), end, {}, folded);
    if (is_there) return 1 + end.size();
  }
  return 0;
}

/// The same in letters of any case. Unicode's other small s, U+017F, is one of them.
std::size_t contraction_of_any_case(std::string_view text) {
  constexpr std::string_view kLongS = "'\xC5\xBF";
  return text.starts_with(kLongS) ? kLongS.size() : contraction(text, lower);
}

/// White space: `\s+(?!\S)|\s+`. All of it at the text's end; elsewhere all but the last character,
/// which belongs to the next word, or a single one.
std::size_t spaces(std::string_view text) {
  std::size_t end = 0, last = 0;
  while (end < text.size()) {
    const ClassedCharacter here = character_at(text, end);
    if (here.kind != CharacterClass::space) break;
    last = end;
    end += here.length;
  }
  return end == text.size() || last == 0 ? end : last;
}

/// `\s*[\r\n]+`: white space up to its last line end, or 0.
std::size_t spaces_to_line_end(std::string_view text) {
  const std::size_t end = end_of_run(text, 0, CharacterClass::space);
  const std::size_t last = text.substr(0, end).find_last_of("\r\n");
  return last == std::string_view::npos ? 0 : last + 1;
}

/// Returns the beginning of a run that one space may precede: ` ?\p{L}+`.
std::size_t behind_a_space(std::string_view text) { return text.size() > 1 && text[0] == ' '; }

/// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
std::size_t gpt2_word(std::string_view text) {
  if (const std::size_t length = contraction(text)) return length;
  const std::size_t begin = behind_a_space(text);
  const CharacterClass kind = character_at(text, begin).kind;
  return kind == CharacterClass::space ? spaces(text) : end_of_run(text, begin, kind);
}

/// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,most_digits}|
///  ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
std::size_t llama3_word(std::string_view text, std::size_t most_digits) {
  if (const std::size_t length = contraction_of_any_case(text)) return length;
  const auto [kind, length] = character_at(text, 0);
  if (kind == CharacterClass::number) return end_of_run(text, 0, kind, most_digits);
  const bool may_lead = kind != CharacterClass::letter && !is_line_end(text[0]);
  const std::size_t letters = may_lead ? length : 0;
  if (const std::size_t end = end_of_run(text, letters, CharacterClass::letter); end > letters) {
    return end;
  }
  const std::size_t begin = behind_a_space(text);
  std::size_t end = end_of_run(text, begin, CharacterClass::other);
  if (end > begin) {
    while (end < text.size() && is_line_end(text[end])) ++end;
    return end;
  }
  const std::size_t lines = spaces_to_line_end(text);
  return lines > 0 ? lines : spaces(text);
}

/// A number character alone, or everything before the next one.
std::size_t digit(std::string_view text) {
  const auto [kind, length] = character_at(text, 0);
  if (kind == CharacterClass::number) return length;
  std::size_t end = length;
  while (end < text.size()) {
    const ClassedCharacter here = character_at(text, end);
    if (here.kind == CharacterClass::number) break;
    end += here.length;
  }
  return end;
}

}  // namespace

std::size_t length_of_first(WordCut cut, std::string_view text) {
  switch (cut) {
    case WordCut::digits:
      return digit(text);
    case WordCut::gpt2:
      return gpt2_word(text);
    case WordCut::llama3:
      return llama3_word(text, 3);
    case WordCut::qwen2:
      return llama3_word(text, 1);
    case WordCut::space_before:
      break;
  }
  return text.size();
}

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/tokenizer/added_tokens.hpp"

#include <algorithm>
#include <utility>

#include "level2_training/data/tokenizer/character.hpp"

namespace d5::detail {
namespace {

unsigned char byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::ranges::sort(tokens_, {}, &AddedToken::text);
  for (const AddedToken& token : tokens_) begins_.set(byte_at(token.text, 0));
}

/// Narrows the sorted tokens byte by byte: a shorter one stands before those it begins.
const AddedToken* AddedTokens::longest_at(std::string_view text) const {
  const AddedToken* longest = nullptr;
  auto begin = tokens_.begin(), end = tokens_.end();
  for (std::size_t depth = 0; depth < text.size() && begin != end; ++depth) {
    const auto byte_there = [depth](const AddedToken& token) {
      return token.text.size() > depth ? int(byte_at(token.text, depth)) : -1;
    };
    const auto same =
        std::ranges::equal_range(begin, end, int(byte_at(text, depth)), {}, byte_there);
    begin = same.begin();
    end = same.end();
    if (begin != end && begin->text.size() == depth + 1) longest = &*begin;
  }
  return longest;
}

std::optional<AddedTokens::Place> AddedTokens::next(std::string_view text, std::size_t from) const {
  if (tokens_.empty()) return std::nullopt;
  for (std::size_t at = from; at < text.size(); ++at) {
    if (!begins_[byte_at(text, at)]) continue;
    if (const AddedToken* token = longest_at(text.substr(at))) {
      Place place{at, at + token->text.size(), token};
      take_spaces(text, from, place);
      return place;
    }
  }
  return std::nullopt;
}

void AddedTokens::take_spaces(std::string_view text, std::size_t from, Place& place) const {
  if (place.token->takes_spaces_before) {
    std::size_t last_other = from;  // behind the last character that is no space
    for (std::size_t at = from; at < place.begin;) {
      const auto [kind, length] = character_at(text.substr(0, place.begin), at);
      at += length;
      if (kind != CharacterClass::space) last_other = at;
    }
    place.begin = last_other;
  }
  if (place.token->takes_spaces_after) {
    while (place.end < text.size()) {
      const auto [kind, length] = character_at(text, place.end);
      if (kind != CharacterClass::space) break;
      place.end += length;
    }
  }
}

}  // namespace d5::detail

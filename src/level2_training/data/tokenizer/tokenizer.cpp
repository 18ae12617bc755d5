// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"

namespace d5 {

std::vector<TokenId> Tokenizer::encode(std::string_view text, SpecialText special) const {
  if (text.size() > kMostBytes) {
    throw ValueError(
        fmt::format("tokenizer: the text has {} bytes, expected at most {}; encode it in parts",
                    text.size(), kMostBytes));
  }
  std::vector<TokenId> ids;
  append_ids(text, special, ids);
  return ids;
}

std::string_view Tokenizer::bytes_of(TokenId id) const {
  const std::vector<std::string>& all = tokens();
  if (id < 0 || id >= vocabulary_size()) {
    throw ValueError(
        fmt::format("tokenizer: id {} is no token, expected 0 to {}; a network may answer more "
                    "scores than its vocabulary has tokens",
                    id, vocabulary_size() - 1));
  }
  const std::string& bytes = all[std::size_t(id)];
  if (bytes.empty()) {
    throw ValueError(fmt::format("tokenizer: id {} is no token; the vocabulary leaves it out", id));
  }
  return bytes;
}

std::string Tokenizer::decode(std::span<const TokenId> ids) const {
  std::string bytes;
  for (const TokenId id : ids) bytes += bytes_of(id);
  return bytes;
}

TokenId Tokenizer::special_token(std::string_view text) const {
  const std::vector<SpecialToken>& all = special_tokens();
  const auto found = std::ranges::find(all, text, &SpecialToken::text);
  if (found != all.end()) return found->id;
  std::vector<std::string> known;
  for (const SpecialToken& token : all) known.push_back(token.text);
  throw_unknown_name("special token", text, known);
}

}  // namespace d5

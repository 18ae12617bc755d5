// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"

namespace d5 {

/// A token's number, as networks take it.
using TokenId = std::int64_t;

/// A token that controls a model, and what a text has to hold to be it: "<|im_end|>".
struct SpecialToken {
  std::string text;
  TokenId id = 0;
};

/// What becomes of a special token's text within a text.
enum class SpecialText {
  token,  ///< its id
  text,   ///< ids of its letters: the text comes from someone who may not control the model
};

/// Tokens that a model expects around every text.
struct TokenFrame {
  std::vector<TokenId> before = {}, after = {};
};

/// Turns text into the numbers that a language model computes with, and back.
///
/// A text is any bytes: what is not UTF-8 is encoded byte by byte.
/// Thread safety: all members may be called from several threads at once.
///
///     auto tokenizer = tokenizers().at("bpe").make({{"file", "tokenizer.json"}});
///     std::vector<TokenId> ids = tokenizer->encode("Hello world");
///     std::string text = tokenizer->decode(ids);
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// Ids of the text alone, without the frame. Throws: ValueError above `kMostBytes`.
  [[nodiscard]] std::vector<TokenId> encode(std::string_view text,
                                            SpecialText special = SpecialText::token) const;
  /// Bytes of the tokens, one after the other, special ones too. They may end within a character,
  /// which `DecodedStream` holds back. Throws: ValueError for an id that is no token.
  [[nodiscard]] std::string decode(std::span<const TokenId> ids) const;
  /// Bytes of one token, for the tokenizer's life. Throws: ValueError.
  [[nodiscard]] std::string_view bytes_of(TokenId id) const;

  /// One above the largest id.
  [[nodiscard]] TokenId vocabulary_size() const { return TokenId(tokens().size()); }
  [[nodiscard]] virtual const std::vector<SpecialToken>& special_tokens() const = 0;
  /// Throws: NotFound, listing the special tokens and suggesting the nearest.
  [[nodiscard]] TokenId special_token(std::string_view text) const;
  [[nodiscard]] virtual TokenFrame frame() const { return {}; }

  /// Length of a text, in bytes.
  static constexpr std::size_t kMostBytes = std::size_t(1) << 28;

 protected:
  virtual void append_ids(std::string_view text, SpecialText special,
                          std::vector<TokenId>& ids) const = 0;
  /// Bytes by id; empty: no token has this id.
  [[nodiscard]] virtual const std::vector<std::string>& tokens() const = 0;
};

using TokenizerEntry = Entry<std::shared_ptr<const Tokenizer>()>;
/// All tokenizers by name; src/level2_training/data/tokenizer/tokenizers has the built-in ones.
[[nodiscard]] Registry<TokenizerEntry>& tokenizers();

}  // namespace d5

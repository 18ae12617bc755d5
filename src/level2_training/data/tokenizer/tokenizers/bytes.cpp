// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/tokenizer.hpp"
#include "level2_training/data/tokenizer/added_tokens.hpp"

namespace d5::tokenizer {
namespace {

constexpr TokenId kByteTokens = 256;

struct BytesOptions {
  std::vector<std::string> special;
  void declare(OptionList& options) {
    options.add("special", special,
                "texts of special tokens, which get the ids from 256 on, in order");
  }
};

/// A token a byte, whose id is its value.
class BytesTokenizer final : public Tokenizer {
 public:
  using Options = BytesOptions;
  explicit BytesTokenizer(const Options& options)
      : special_(special_tokens_of(options)), added_(added_tokens_of(special_)) {
    for (TokenId byte = 0; byte < kByteTokens; ++byte) tokens_.emplace_back(1, char(byte));
    for (const SpecialToken& token : special_) tokens_.push_back(token.text);
  }

  [[nodiscard]] const std::vector<SpecialToken>& special_tokens() const override {
    return special_;
  }

 private:
  static std::vector<SpecialToken> special_tokens_of(const Options& options) {
    std::vector<SpecialToken> tokens;
    for (const std::string& text : options.special) {
      if (text.empty()) {
        throw ValueError("tokenizer bytes: 'special' has an empty text, expected one of a token");
      }
      for (const SpecialToken& before : tokens) {
        if (before.text != text) continue;
        throw ValueError(fmt::format(
            "tokenizer bytes: 'special' has '{}' twice, expected each text once", printable(text)));
      }
      tokens.push_back({text, kByteTokens + TokenId(tokens.size())});
    }
    return tokens;
  }
  static std::vector<detail::AddedToken> added_tokens_of(const std::vector<SpecialToken>& special) {
    std::vector<detail::AddedToken> tokens;
    for (const SpecialToken& token : special) {
      tokens.push_back({.text = token.text, .id = token.id, .is_special = true});
    }
    return tokens;
  }

  void append_ids(std::string_view text, SpecialText special,
                  std::vector<TokenId>& ids) const override {
    const auto add_bytes = [&](std::string_view part) {
      for (const char byte : part) ids.push_back(static_cast<unsigned char>(byte));
    };
    if (special == SpecialText::text) return add_bytes(text);
    added_.split(text, add_bytes, [&](TokenId id) { ids.push_back(id); });
  }
  [[nodiscard]] const std::vector<std::string>& tokens() const override { return tokens_; }

  std::vector<SpecialToken> special_;
  detail::AddedTokens added_;
  std::vector<std::string> tokens_;
};

}  // namespace

void register_bytes(Registry<TokenizerEntry>& registry) {
  registry.add("bytes", TokenizerEntry::of<BytesTokenizer>("bytes: 256 tokens, and special ones"));
}

}  // namespace d5::tokenizer

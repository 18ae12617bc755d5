// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "level2_training/data/tokenizer/added_tokens.hpp"
#include "level2_training/data/tokenizer/bpe_file.hpp"
#include "level2_training/data/tokenizer/word_cutter.hpp"
#include "level2_training/data/tokenizer/word_merger.hpp"

namespace d5::detail {

/// Byte-level BPE: added tokens are found in the text, the rest is normalised, cut into words, and
/// each word's bytes are merged.
class BpeTokenizer final : public Tokenizer {
 public:
  /// `special`: `SpecialText::text` takes every text as one by others.
  BpeTokenizer(BpeFile file, SpecialText special);

  [[nodiscard]] const std::vector<SpecialToken>& special_tokens() const override {
    return special_;
  }
  [[nodiscard]] TokenFrame frame() const override { return file_.frame; }

 private:
  class Encoding;
  /// Added tokens that are sought in a text.
  struct Sought {
    Sought(const BpeFile& file, SpecialText special);
    AddedTokens as_written, as_normalised;
  };
  void append_ids(std::string_view text, SpecialText special,
                  std::vector<TokenId>& ids) const override;
  [[nodiscard]] const std::vector<std::string>& tokens() const override { return file_.tokens; }

  const BpeFile file_;
  std::vector<SpecialToken> special_;
  Sought usual_, in_text_;  ///< in texts, and in texts by others
  WordCutter cutter_;
  WordMerger merger_;
  std::unordered_map<std::string_view, TokenId> whole_words_;
};

}  // namespace d5::detail

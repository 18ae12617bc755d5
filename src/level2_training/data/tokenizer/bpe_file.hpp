// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "level2_training/data/tokenizer/added_tokens.hpp"
#include "level2_training/data/tokenizer/unicode.hpp"
#include "level2_training/data/tokenizer/word_cutter.hpp"
#include "level2_training/data/tokenizer/word_merger.hpp"

namespace d5::detail {

/// What a tokenizer.json of byte-level BPE says, checked.
struct BpeFile {
  /// Bytes by id; empty: no token.
  std::vector<std::string> tokens = {};
  /// Ids that a whole word may have without merging, where `whole_words` holds.
  std::vector<TokenId> words = {};
  bool whole_words = false;
  ByteTokens bytes = {};
  std::vector<TokenMerge> merges = {};
  std::vector<AddedToken> added = {};
  std::vector<NormalForm> forms = {};
  std::vector<WordCut> cuts = {};
  TokenFrame frame = {};
};

/// How a text is cut into words: as the file says, or by a known pattern where it says so in words
/// that are not recognised.
enum class PatternChoice { file, gpt2, llama3, qwen2, smollm };

/// Limits of a file, checked before memory is taken.
inline constexpr std::size_t kMostFileBytes = std::size_t(1) << 28;
inline constexpr TokenId kMostTokens = TokenId(1) << 22;
inline constexpr TokenId kMostHoles = 65536;   ///< ids below the largest that are no tokens
inline constexpr std::size_t kMostSteps = 16;  ///< length of a sequence before or after the model
inline constexpr std::size_t kMostAddedBytes = 1024;  ///< length of an added token's text

/// Reads the text of a tokenizer.json; `who` is the file in messages.
/// Throws: FormatError, with file and place; Unsupported for what is well formed and unknown here.
[[nodiscard]] BpeFile read_bpe_file(const std::string& text, const std::string& who,
                                    PatternChoice pattern);

}  // namespace d5::detail

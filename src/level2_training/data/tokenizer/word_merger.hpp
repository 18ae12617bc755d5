// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "d5/level2_training/data/tokenizer.hpp"

namespace d5::detail {

/// Two tokens that become one. A file's earlier merges come first.
struct TokenMerge {
  std::int32_t left = 0, right = 0, result = 0;
};

/// Tokens of single bytes, from which merging begins.
struct ByteTokens {
  static constexpr std::int32_t kNone = -1;
  std::array<std::int32_t, 256> of{};
  std::int32_t unknown = kNone;  ///< token for bytes that have none; kNone: they are left out
  bool joins_unknown = false;    ///< neighbours without a token become one unknown token
};

/// Merges the bytes of a word to tokens: of all neighbours that a merge joins always those whose
/// merge comes first, the leftmost of equals.
///
/// Takes O(n log n) steps for n bytes, by a queue of neighbours.
class WordMerger {
 public:
  WordMerger(const ByteTokens& bytes, const std::vector<TokenMerge>& merges);

  /// Memory of `merge`, one a thread.
  class Memory {
    friend class WordMerger;
    struct Symbol {
      std::int32_t token = 0;
      std::int32_t rank = 0;    ///< rank of the merge with the next symbol, or kNoMerge
      std::int32_t result = 0;  ///< token that this merge makes
      std::uint32_t before = 0, next = 0;
    };
    std::vector<Symbol> symbols_;
    std::vector<std::uint64_t> queue_;  // rank, then place: the smallest on top
  };
  void merge(std::string_view word, Memory& memory, std::vector<TokenId>& ids) const;

 private:
  struct RankedMerge {
    std::int32_t right, rank, result;
  };
  [[nodiscard]] const RankedMerge* find(std::int32_t left, std::int32_t right) const;
  void begin(std::string_view word, Memory& memory) const;
  void rank(std::uint32_t place, Memory& memory) const;
  void join(std::uint32_t place, Memory& memory) const;

  ByteTokens bytes_;
  std::vector<RankedMerge> merges_;  // by left token, then by right
  std::vector<std::size_t> begins_;  // first merge of each left token
};

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/parsing/json_reader.hpp"
#include "level2_training/data/tokenizer/added_tokens.hpp"
#include "level2_training/data/tokenizer/word_merger.hpp"

namespace d5::detail {

/// The vocabulary of a tokenizer.json: bytes of each id, and merges as ids.
///
/// Throws: FormatError, with file and place, from all members.
class Vocabulary {
 public:
  /// Reads `model.vocab`. `added` is the number of tokens still to come; `model` must outlive this
  /// object.
  Vocabulary(const JsonReader& model, std::size_t added, std::string who);

  /// Adds a token with an id of its own, or that of its text in `model.vocab`.
  void add(const AddedToken& token, const std::string& place);
  [[nodiscard]] ByteTokens byte_tokens(const JsonReader& model) const;
  /// Reads `model.merges`: texts "a b", or pairs ["a", "b"].
  [[nodiscard]] std::vector<TokenMerge> merges(const JsonReader& model) const;
  /// Ids of entries that are written in letters for bytes.
  [[nodiscard]] std::vector<TokenId> words() const;
  /// Bytes by id; empty: no token.
  [[nodiscard]] std::vector<std::string> release_tokens() { return std::move(tokens_); }

 private:
  void set(TokenId id, std::string bytes, const std::function<std::string()>& place);
  void add_entry(const std::string& entry, std::int32_t id);
  [[nodiscard]] const std::int32_t* find(std::string_view entry) const;
  void expect_distinct(const std::vector<TokenMerge>& merges) const;
  [[nodiscard]] TokenMerge merge(std::string_view left, std::string_view right,
                                 std::size_t index) const;
  [[noreturn]] void fail(const std::string& place, const std::string& what) const;

  std::string who_;
  struct Entry {
    std::string_view text;  // as the file writes it
    std::int32_t id;
  };
  std::vector<Entry> entries_;  // by text
  std::vector<std::string> tokens_;
  std::vector<bool> is_word_;  // by id
  std::array<std::int32_t, 256> of_byte_;
  std::set<std::string> added_;
  TokenId most_id_;
};

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "d5/level2_training/data/tokenizer.hpp"

namespace d5::detail {

/// A token that is found in the text as it stands, before words are cut.
struct AddedToken {
  std::string text;
  TokenId id = 0;
  bool is_special = false;
  bool takes_spaces_before = false, takes_spaces_after = false;
  bool in_normal_form = false;  ///< sought in the text after it is normalised
};

/// Finds added tokens in a text: the leftmost, and of those that begin there the longest.
class AddedTokens {
 public:
  explicit AddedTokens(std::vector<AddedToken> tokens);

  struct Place {
    std::size_t begin = 0, end = 0;
    const AddedToken* token = nullptr;
  };
  /// The first place at or after `from`.
  [[nodiscard]] std::optional<Place> next(std::string_view text, std::size_t from) const;

  /// Calls `on_text(text)` and `on_token(id)` for all parts of `text`, in order.
  template <class OnText, class OnToken>
  void split(std::string_view text, const OnText& on_text, const OnToken& on_token) const {
    std::size_t done = 0;
    while (const auto place = next(text, done)) {
      if (place->begin > done) on_text(text.substr(done, place->begin - done));
      on_token(place->token->id);
      done = place->end;
    }
    if (done < text.size()) on_text(text.substr(done));
  }

 private:
  [[nodiscard]] const AddedToken* longest_at(std::string_view text) const;
  void take_spaces(std::string_view text, std::size_t from, Place& place) const;

  std::vector<AddedToken> tokens_;  // by text
  std::bitset<256> begins_;
};

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace d5::detail {

/// A cut of a text into parts, which the next cut then divides.
enum class WordCut {
  digits,        ///< each digit alone
  space_before,  ///< puts a space before a part that begins with none
  gpt2,
  llama3,  ///< numbers of at most three digits; line ends stay with what is before them
  qwen2,   ///< as llama3, digits one by one
};

/// Length of the first part of `text`, which is not empty. Depends on nothing before it.
[[nodiscard]] std::size_t length_of_first(WordCut cut, std::string_view text);

/// Cuts a text into the words whose bytes are merged.
class WordCutter {
 public:
  explicit WordCutter(std::vector<WordCut> cuts) : cuts_(std::move(cuts)) {}

  /// Calls `on_word` for each word, in order; its text lives until `on_word` returns.
  template <class OnWord>
  void cut(std::string_view text, const OnWord& on_word) const {
    cut(text, 0, on_word);
  }

 private:
  template <class OnWord>
  void cut(std::string_view text, std::size_t cut_index, const OnWord& on_word) const {
    if (cut_index == cuts_.size()) return on_word(text);
    const WordCut how = cuts_[cut_index];
    if (how == WordCut::space_before) {
      if (text.starts_with(' ')) return cut(text, cut_index + 1, on_word);
      return cut(" " + std::string(text), cut_index + 1, on_word);
    }
    while (!text.empty()) {
      const std::size_t length = length_of_first(how, text);
      cut(text.substr(0, length), cut_index + 1, on_word);
      text.remove_prefix(length);
    }
  }

  std::vector<WordCut> cuts_;
};

}  // namespace d5::detail

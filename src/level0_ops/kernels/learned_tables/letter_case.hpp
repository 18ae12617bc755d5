// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <locale>
#include <string>
#include <string_view>

namespace d5::detail {

/// Upper and lower case of UTF-8 texts, by the system's tables.
///
/// Each letter becomes one letter: "ß" stays itself in upper case, and a sigma at a word's end is
/// like any other. Bytes that are not UTF-8 stay as they are.
class LetterCase {
 public:
  /// `locale` as "tr_TR"; "" stands for no language. One that the system lacks is taken for that,
  /// because the tables of nearly all languages agree. Throws: Unsupported where they do not,
  /// ValueError for a path.
  explicit LetterCase(const std::string& locale);

  [[nodiscard]] std::string upper(std::string_view text) const { return map(text, Case::upper); }
  [[nodiscard]] std::string lower(std::string_view text) const { return map(text, Case::lower); }

 private:
  enum class Case { upper, lower };
  [[nodiscard]] std::string map(std::string_view text, Case to) const;

  std::locale locale_;
};

}  // namespace d5::detail

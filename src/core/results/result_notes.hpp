// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/results/measurement.hpp"
#include "d5/core/tables/text_table.hpp"

namespace d5::detail {

/// The reasons that `mistrust` joined; a single one is itself.
[[nodiscard]] std::vector<std::string> reasons_in(std::string_view joined);

/// Numbered footnotes with the reasons of records that did not pass. Reasons that differ only in
/// numbers are merged: "7 to 15 samples, fewer than ...", or to the first one if a number is within
/// a word.
class ResultNotes {
 public:
  /// "passed", "mistrusted [1,2]".
  [[nodiscard]] std::string status_of(const Measurement& measurement);
  /// The number of the note with this reason, from 1.
  [[nodiscard]] std::size_t number_of(const std::string& reason);
  /// "10 samples, fewer than the 30 that a median needs", in order of numbers.
  [[nodiscard]] std::vector<std::string> reasons() const;
  /// One line per reason: "[1] 10 samples, fewer than the 30 that a median needs"; empty if all
  /// passed.
  [[nodiscard]] std::string to_text() const;
  /// These lines as they stand below a table, after an empty line; in Markdown a list.
  [[nodiscard]] std::string below_table(Format format, int width) const;

 private:
  struct Note {
    std::string key;
    std::vector<std::string> texts = {};  ///< distinct texts
    int rows = 0;
  };
  std::vector<Note> notes_;
};

}  // namespace d5::detail

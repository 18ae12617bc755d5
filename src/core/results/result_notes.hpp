// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/results/measurement.hpp"

namespace d5::detail {

/// The reasons of records that did not pass, each once, and numbered: rows name the numbers.
/// Reasons that differ in their numbers alone are one: "7 to 15 samples, fewer than ...", or its
/// first where a number stands within a word.
class ResultNotes {
 public:
  /// "passed", "mistrusted [1,2]".
  [[nodiscard]] std::string status_of(const Measurement& measurement);
  /// "10 samples, fewer than the 30 that a median needs", in the order of their numbers.
  [[nodiscard]] std::vector<std::string> reasons() const;
  /// A line each: "[1] 10 samples, fewer than the 30 that a median needs"; empty if all passed.
  [[nodiscard]] std::string to_text() const;

 private:
  struct Note {
    std::string key;
    std::vector<std::string> texts = {};  ///< those that differ
    int rows = 0;
  };
  std::size_t number_of(const std::string& reason);
  std::vector<Note> notes_;
};

}  // namespace d5::detail

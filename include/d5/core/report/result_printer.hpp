// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/core/results/results.hpp"

namespace d5 {

/// Results as text, piece by piece: a table's rows come at once, and lines of CSV; JSON, which is
/// one object, comes at the end.
///
///     ResultPrinter printer(environment(), Format::table, screen_of(STDOUT_FILENO));
///     for (...) std::cout << printer.add(bench(...)) << std::flush;
///     std::cout << printer.end(environment());
class ResultPrinter {
 public:
  /// `subjects` are those whose rows may come: a table leaves room for them.
  ResultPrinter(Environment environment, Format format, Screen screen = {},
                std::vector<std::string> subjects = {});
  ~ResultPrinter();
  ResultPrinter(const ResultPrinter&) = delete;
  ResultPrinter& operator=(const ResultPrinter&) = delete;

  [[nodiscard]] std::string add(std::vector<Measurement> some);
  /// What can be told once all is there: reasons; JSON, with the environment as it is then.
  [[nodiscard]] std::string end(const Environment& environment);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "d5/core/results/results.hpp"

namespace d5 {

/// Prints results incrementally. Table rows and CSV lines are returned at once; JSON, a single
/// object, at the end.
///
///     ResultPrinter printer(environment(), Format::table, screen_of(STDOUT_FILENO));
///     for (...) std::cout << printer.add(bench(...)) << std::flush;
///     std::cout << printer.end(environment());
class ResultPrinter {
 public:
  /// `subjects` are the expected ones: a table reserves width for them. `varying` are conditions in
  /// which expected records differ, each with its longest value: a table has columns for them from
  /// the first record on.
  ResultPrinter(Environment environment, Format format, Screen screen = {},
                std::vector<std::string> subjects = {},
                std::map<std::string, std::string> varying = {});
  ~ResultPrinter();
  ResultPrinter(const ResultPrinter&) = delete;
  ResultPrinter& operator=(const ResultPrinter&) = delete;

  [[nodiscard]] std::string add(std::vector<Measurement> some);
  /// The final part: reasons; for JSON all results, with this environment.
  [[nodiscard]] std::string end(const Environment& environment);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace d5

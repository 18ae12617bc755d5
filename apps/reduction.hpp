// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>

#include "apps/options.hpp"
#include "d5/core/measuring/isolation.hpp"

namespace d5::app {

/// Options of commands that reduce a failure to a smaller one.
struct ReductionOptions {
  double most_seconds = 600;
  Isolation isolation = {};
};
/// Adds `--most-seconds`, which needs `--reduce`.
void add_reduction_options(CLI::App& command, ReductionOptions& options);

/// Isolation of the tries: on the host each runs in a process of its own, so that a crash ends one
/// of them. Throws: as `isolation_of`.
[[nodiscard]] Isolation isolation_of_reduction(const ReductionOptions& options,
                                               const RunOptions& run);

/// Reports what is left each time that it shrinks, and now and then that work continues; silent
/// with `--quiet`.
class ReductionSayer {
 public:
  explicit ReductionSayer(const OutputOptions& output) : quiet_(output.quiet) {}
  /// `left`: "2 nodes".
  void say(const std::string& left, std::size_t tries, double seconds);

 private:
  bool quiet_;
  std::string left_ = {};
  double last_ = 0;
};

}  // namespace d5::app

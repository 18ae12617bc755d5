// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>

#include "apps/options.hpp"
#include "d5/core/measuring/isolation.hpp"

namespace d5::app {

/// Of commands that make what differs small.
struct ReductionOptions {
  double most_seconds = 600;
  Isolation isolation = {};
};
/// `--most-seconds`, which needs `--reduce`.
void add_reduction_options(CLI::App& command, ReductionOptions& options);

/// Of its tries: on the host each is a process of its own, so that a crash costs one of them.
/// Throws: as `isolation_of`.
[[nodiscard]] Isolation isolation_of_reduction(const ReductionOptions& options,
                                               const RunOptions& run);

/// Says what is left each time that it is less, and now and then that work goes on; nothing with
/// `--quiet`.
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

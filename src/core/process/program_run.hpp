// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>

#include "core/process/owned_process.hpp"

namespace d5::detail {

/// The result and output of a program.
struct ProgramRun {
  ProcessEnd end;
  std::string output, error;
  bool is_late = false;  ///< ended at its deadline
};

/// Runs a program to its end, or ends it and its descendants after `most_seconds`. Collects its
/// `output` and `error`, separately unless `error` is `kAsOutput`.
///
///     const auto run = run_program({.words = {"uname", "-r"}});
///
/// Throws: as `start`.
[[nodiscard]] ProgramRun run_program(Program program,
                                     double most_seconds = std::numeric_limits<double>::infinity());

}  // namespace d5::detail

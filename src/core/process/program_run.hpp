// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>

#include "core/process/owned_process.hpp"

namespace d5::detail {

/// A program that ran, and what it wrote.
struct ProgramRun {
  ProcessEnd end;
  std::string output, error;
  bool is_late = false;  ///< it was ended at its deadline
};

/// Runs a program to its end, or for `most_seconds`: then it and all that it began are ended. Its
/// `output` is collected, and its `error`, apart unless that is `kAsOutput`.
///
///     const auto run = run_program({.words = {"uname", "-r"}});
///
/// Throws: as `start`.
[[nodiscard]] ProgramRun run_program(Program program,
                                     double most_seconds = std::numeric_limits<double>::infinity());

}  // namespace d5::detail

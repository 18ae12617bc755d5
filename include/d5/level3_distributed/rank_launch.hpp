// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/interrupt.hpp"

namespace d5 {

/// The words that started this process, its program by its path.
[[nodiscard]] std::vector<std::string> own_command();

/// The words that start `command` on so many ranks of this machine: itself for one rank, otherwise
/// behind "mpirun -np N", with "--oversubscribe" where there are fewer cores.
/// Throws: ValueError below 1 rank, NotFound where no mpirun is in PATH.
[[nodiscard]] std::vector<std::string> launch_words(int ranks,
                                                    const std::vector<std::string>& command);

/// This process becomes the launcher, and ends as it does. Throws: as `launch_words`; IoError.
[[noreturn]] void become_ranks(int ranks, const std::vector<std::string>& command);

struct LaunchedRun {
  int status = 0;      ///< of the launcher; 128 and its number for a signal
  std::string output;  ///< what the ranks wrote to stdout and stderr
};

/// Runs it beside this process, and waits. An interrupt ends it. Throws: as `become_ranks`;
/// Interrupted.
[[nodiscard]] LaunchedRun run_ranks(int ranks, const std::vector<std::string>& command,
                                    const Interrupt& interrupt = {});

}  // namespace d5

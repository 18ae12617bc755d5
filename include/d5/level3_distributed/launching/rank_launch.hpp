// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"

namespace d5 {

/// The words that started this process, its program by its path.
[[nodiscard]] std::vector<std::string> own_command();

/// The words that start `command` on so many ranks of this machine: itself for one rank, otherwise
/// behind "mpirun -np N", with "--oversubscribe" where there are fewer cores.
/// Throws: ValueError below 1 rank, NotFound where no mpirun is in PATH.
[[nodiscard]] std::vector<std::string> launch_words(int ranks,
                                                    const std::vector<std::string>& command);

/// What a rank takes for Ctrl-C. mpirun passes it on; at SIGINT it kills its ranks by itself, a
/// second or two later.
inline constexpr int kLaunchersCtrlC = SIGUSR1;

/// This process starts the launcher, waits, and ends as it does. Ctrl-C, SIGTERM and SIGHUP reach
/// the ranks as `kLaunchersCtrlC`, and make the status 130, 143 and 129; a second one kills the
/// ranks. Throws: as `launch_words`; IoError.
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

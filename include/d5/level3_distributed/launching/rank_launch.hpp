// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"

namespace d5 {

/// The command line of this process; the program is given by its path.
[[nodiscard]] std::vector<std::string> own_command();

/// The beginning of a shell's line that starts as many ranks as this job has: "mpirun -np 4 ";
/// empty for one rank.
[[nodiscard]] std::string own_launcher();

/// The command line that starts `command` on `ranks` ranks of this machine: `command` itself for
/// one rank, otherwise prefixed with "mpirun -np N", and "--oversubscribe" if there are fewer
/// cores.
/// Throws: ValueError below 1 rank; NotFound if PATH has no mpirun.
[[nodiscard]] std::vector<std::string> launch_words(int ranks,
                                                    const std::vector<std::string>& command);

/// The signal that ranks treat as Ctrl-C. mpirun forwards it; at SIGINT mpirun would kill its ranks
/// a second or two later.
inline constexpr int kLaunchersCtrlC = SIGUSR1;

/// Starts the launcher, waits for it, and ends this process with its status. Ctrl-C, SIGTERM and
/// SIGHUP reach the ranks as `kLaunchersCtrlC` and give the status 130, 143 and 129; a second
/// signal kills the ranks. Throws: as `launch_words`; IoError.
[[noreturn]] void become_ranks(int ranks, const std::vector<std::string>& command);

struct LaunchedRun {
  int status = 0;      ///< the launcher's exit status; 128 + number for a signal
  std::string output;  ///< stdout and stderr of the ranks
};

/// Runs `command` on ranks in child processes, and waits. An interrupt ends the run. Throws: as
/// `become_ranks`; Interrupted.
[[nodiscard]] LaunchedRun run_ranks(int ranks, const std::vector<std::string>& command,
                                    const Interrupt& interrupt = {});

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5::mpi {

/// Starts MPI for this process, and sees to it that the job ends as a whole: an exception that
/// leaves `main` prints `rank N: message` and aborts all ranks; an exit with a status other than 0
/// aborts those that do not exit within 3 s too; every other exit waits for the rest and finalises
/// MPI. If somebody else has started MPI already, finalising it stays with them. Call it once, on
/// all ranks. Throws: CommunicationError.
void start();

/// "Open MPI v4.1.4" of "Open MPI v4.1.4, package: ..., repo rev: ..."
[[nodiscard]] const std::string& library();

/// Whether MPI was started, by whomever, and not ended.
[[nodiscard]] bool running();
/// Throws: CommunicationError where it is not.
void expect_running(const std::string& who);

/// What the exit of the process does by itself: see `leave_world`.
void leave(int status);

/// Prints `rank N: reason` and ends the job.
[[noreturn]] void end_job(const std::string& reason, int status = 1);

}  // namespace d5::mpi

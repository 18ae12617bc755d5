// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5::mpi {

/// Starts MPI for this process and makes the job end as a whole. An exception that leaves `main`
/// prints `rank N: message` and aborts all ranks. An exit with a non-zero status also aborts ranks
/// that do not exit within 3 s. Any other exit waits for the other ranks and finalises MPI, unless
/// another library started it. Call it once, on all ranks. Throws: CommunicationError.
void start();

/// Name and version of the library: "Open MPI v4.1.4" of "Open MPI v4.1.4, package: ..., repo rev:
/// ..."
[[nodiscard]] const std::string& library();

/// Whether MPI was started, by d5 or the program, and not finalised.
[[nodiscard]] bool running();
/// Throws: CommunicationError if it is not.
void expect_running(const std::string& who);

/// Called automatically at the exit of the process: see `leave_world`.
void leave(int status);

/// Prints `rank N: reason` and ends the job.
[[noreturn]] void end_job(const std::string& reason, int status = 1);

}  // namespace d5::mpi

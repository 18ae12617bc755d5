// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5::detail {

/// Starts MPI for this process, and sees to it that the job ends as a whole: an exception that
/// leaves `main` prints `rank N: message` and aborts all ranks; an exit with a status other than 0
/// aborts those that do not exit within 3 s too; every other exit waits for the rest and finalises
/// MPI. If somebody else has started MPI already, finalising it stays with them. Call it once, on
/// all ranks. Throws: CommunicationError.
void start_mpi();

/// What the exit of the process does by itself: see `leave_world`.
void leave_mpi(int status);

/// Prints `rank N: reason` and ends the job.
[[noreturn]] void abort_mpi(const std::string& reason, int status = 1);

}  // namespace d5::detail

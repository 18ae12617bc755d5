// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace d5::mpi {

/// What one rank's calls of one kind moved on one communicator, to or from one rank. It travels
/// between ranks and libraries as it lies in memory.
struct ProfileRow {
  char call[40] = {};          ///< "MPI_Send"
  char communicator[64] = {};  ///< "MPI_COMM_WORLD"
  std::int32_t rank = 0;       ///< of MPI_COMM_WORLD, as `peer`
  std::int32_t peer = -1;      ///< -1: nobody or all, as of a collective
  std::int64_t calls = 0, bytes_sent = 0, bytes_received = 0;
  double seconds = 0;
};

}  // namespace d5::mpi

/// Writes the rows of all ranks as d5's records. Null, or what went wrong. The plug-in defines it;
/// who profiles loads that when all is over, so that d5 is not in the way of a program before.
extern "C" const char* d5_write_mpi_profile(const d5::mpi::ProfileRow* rows, std::int64_t count,
                                            int ranks, const char* file);

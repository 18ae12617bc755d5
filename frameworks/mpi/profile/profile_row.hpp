// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace d5::mpi {

/// Traffic of one rank's calls of one kind on one communicator, to or from one rank. Rows are
/// passed between ranks and libraries as raw memory.
struct ProfileRow {
  char call[40] = {};          ///< "MPI_Send"
  char communicator[64] = {};  ///< "MPI_COMM_WORLD"
  std::int32_t rank = 0;       ///< in MPI_COMM_WORLD, like `peer`
  std::int32_t peer = -1;      ///< -1: none or all, as for a collective
  std::int64_t calls = 0, bytes_sent = 0, bytes_received = 0;
  double seconds = 0;
};

}  // namespace d5::mpi

/// Writes the rows of all ranks as d5's records. Returns null, or an error message. Defined in the
/// plug-in, which the profiler loads at the end, so that d5 does not interfere with the program.
extern "C" const char* d5_write_mpi_profile(const d5::mpi::ProfileRow* rows, std::int64_t count,
                                            int ranks, const char* file);

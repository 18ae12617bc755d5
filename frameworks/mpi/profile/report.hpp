// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5::mpi {

/// Remembers when MPI was started.
void begin_report();

/// Of all ranks, by rank 0: a table on stderr, and d5's records in the file D5_PMPI_OUT. A
/// collective of all ranks, before MPI_Finalize. What goes wrong is said, and ends nothing.
void report();

}  // namespace d5::mpi

// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5::mpi {

/// Remembers when MPI was started.
void begin_report();

/// Reports the traffic of all ranks from rank 0: a table on stderr, and d5's records in the file
/// D5_PMPI_OUT. A collective of all ranks, before MPI_Finalize. Failures are reported, and end
/// nothing.
void report();

}  // namespace d5::mpi

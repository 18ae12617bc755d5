// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include "groups.hpp"

namespace d5::mpi {

/// Ranks to which a rank's neighbourhood collectives send, and from which they receive, in MPI's
/// order; MPI_PROC_NULL across an end of a grid.
void add_neighbours(MPI_Comm comm, Group& group);

}  // namespace d5::mpi

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include "d5/level3_distributed/communicator/communication_call.hpp"

namespace d5::mpi {

/// MPI's type and operation for a reduction; d5 defines those of float16 and bfloat16, which MPI
/// lacks.
struct MpiReduction {
  MPI_Datatype type;
  MPI_Op op;
};
/// Throws: Unsupported for types that are not numeric. MPI must be running.
[[nodiscard]] MpiReduction mpi_reduction(DType dtype, Reduction reduction);

}  // namespace d5::mpi

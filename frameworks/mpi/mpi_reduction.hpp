// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include "d5/level3_distributed/communicator/communication_call.hpp"

namespace d5::mpi {

/// How MPI reduces elements of one type: float16 and bfloat16, which it does not know, by d5's own.
struct MpiReduction {
  MPI_Datatype type;
  MPI_Op op;
};
/// Throws: Unsupported for types that are no numbers. MPI is running.
[[nodiscard]] MpiReduction mpi_reduction(DType dtype, Reduction reduction);

}  // namespace d5::mpi

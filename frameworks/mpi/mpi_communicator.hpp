// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <memory>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::mpi {

/// The ranks of `comm`, in a context separate from other communication. MPI must be running.
[[nodiscard]] std::shared_ptr<Communicator> make_communicator(MPI_Comm comm);

}  // namespace d5::mpi

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/level3_distributed/communicator.hpp"

namespace d5::detail {

/// All ranks of MPI_COMM_WORLD, apart from what others say on it. MPI is running.
[[nodiscard]] std::shared_ptr<Communicator> make_mpi_communicator();

}  // namespace d5::detail

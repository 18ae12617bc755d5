// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5::detail {

/// The number of ranks that a launcher (mpirun, srun) says this process is one of; 0 if it was
/// started without one. Reads the environment alone.
[[nodiscard]] int launched_ranks();

}  // namespace d5::detail

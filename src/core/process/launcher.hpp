// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5::detail {

/// The number of ranks that a launcher (mpirun, srun) says this process is one of; 0 if it was
/// started without one. Reads the environment alone.
[[nodiscard]] int launched_ranks();
/// How many of them it started on this node; 0 where it does not say.
[[nodiscard]] int launched_ranks_here();

/// What starts as many ranks again, as this process was started: "mpirun -np 4 --oversubscribe ".
/// Hosts and bindings are the place's, and left to it.
[[nodiscard]] std::string launcher_line(int ranks);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5::detail {

/// The number of ranks started by a launcher (mpirun, srun), of which this process is one; 0
/// without a launcher. Reads only the environment.
[[nodiscard]] int launched_ranks();
/// The number of ranks on this node; 0 if unknown.
[[nodiscard]] int launched_ranks_here();

/// The command prefix that starts this number of ranks by the present launcher: "mpirun -np 4
/// --oversubscribe ". Hosts and bindings are omitted, because they depend on the site.
[[nodiscard]] std::string launcher_line(int ranks);

}  // namespace d5::detail

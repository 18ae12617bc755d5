// SPDX-License-Identifier: Apache-2.0
// The transport of a build without MPI: this process alone, and the reason why.
#include <fmt/format.h>

#include "core/text/launcher.hpp"
#include "d5/core/error.hpp"
#include "d5/level3_distributed/communicator.hpp"
#include "level3_distributed/communicator/transport/single_process.hpp"

namespace d5 {

TransportInfo transport() {
  return {false, "d5 was built without MPI (D5_WITH_MPI is off, or CMake found none)"};
}

std::shared_ptr<Communicator> world() {
  static const std::shared_ptr<Communicator> single = detail::make_single_process();
  if (const int ranks = detail::launched_ranks(); ranks > 1) {
    throw Unsupported(
        fmt::format("world: started with {} ranks, but {}; install Open MPI and "
                    "configure with -DD5_WITH_MPI=ON, or start without a launcher",
                    ranks, transport().description));
  }
  return single;
}

void leave_world(int) {}

}  // namespace d5

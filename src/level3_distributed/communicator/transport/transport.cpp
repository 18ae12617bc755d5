// SPDX-License-Identifier: Apache-2.0
// Selects the transport: a plug-in's, loaded on first use, or this process alone.
#include "d5/level3_distributed/communicator/transport.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/process/launcher.hpp"
#include "d5/core/errors/error.hpp"
#include "level3_distributed/communicator/transport/loaded_part.hpp"
#include "level3_distributed/communicator/transport/single_process.hpp"

namespace d5 {
namespace {

Transport& loaded_transport() { return detail::loaded_part<Transport>("transport"); }

/// The transport that made the world; null for a single process or before the first use.
Transport* of_world = nullptr;

std::shared_ptr<Communicator> make_world() {
  const int ranks = detail::launched_ranks();
  if (ranks == 0) return detail::make_single_process();
  Transport* transport = nullptr;
  try {
    transport = &loaded_transport();
  } catch (const Unsupported& missing) {
    if (ranks == 1) return detail::make_single_process();
    throw Unsupported(
        fmt::format("world: started with {} ranks, but {}; install Open MPI (Debian: openmpi-bin) "
                    "where the system's loader or LD_LIBRARY_PATH finds it, or start without a "
                    "launcher",
                    ranks, missing.what()));
  }
  auto all = transport->world();
  of_world = transport;
  return all;
}

std::shared_ptr<Communicator>& the_world() {
  static std::shared_ptr<Communicator> all = make_world();
  return all;
}

}  // namespace

std::shared_ptr<Communicator> world() { return the_world(); }

void set_world(std::shared_ptr<Communicator> ranks) { the_world() = std::move(ranks); }

void leave_world(int status) {
  if (of_world) of_world->leave(status);
}

std::shared_ptr<Communicator> communicator_of(const void* mpi_comm) {
  if (!mpi_comm) {
    throw ValueError("communicator_of: given a null pointer, expected one to an MPI_Comm");
  }
  try {
    return loaded_transport().communicator_of(mpi_comm);
  } catch (const Unsupported& reason) {
    throw Unsupported(fmt::format("communicator_of: {}", reason.what()));
  }
}

TransportInfo transport() {
  try {
    return {true, loaded_transport().description()};
  } catch (const Unsupported& missing) {
    return {false, missing.what()};
  }
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
// The transport over MPI: the world of the ranks that a launcher started.
#include <fmt/format.h>
#include <mpi.h>

#include "core/text/launcher.hpp"
#include "d5/core/environment.hpp"
#include "d5/level3_distributed/communicator.hpp"
#include "level3_distributed/communicator/transport/mpi_communicator.hpp"
#include "level3_distributed/communicator/transport/mpi_runtime.hpp"
#include "level3_distributed/communicator/transport/single_process.hpp"

namespace d5 {
namespace {

[[maybe_unused]] const bool noted = [] {
  note_library("MPI", transport().description);
  return true;
}();

}  // namespace

TransportInfo transport() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);  // allowed before MPI_Init
  std::string text(version, static_cast<std::size_t>(length));
  // "Open MPI v4.1.4, package: ..., repo rev: ..."
  return {true, text.substr(0, text.find(','))};
}

std::shared_ptr<Communicator> world() {
  static const std::shared_ptr<Communicator> all = [] {
    if (detail::launched_ranks() == 0) return detail::make_single_process();
    detail::start_mpi();
    return detail::make_mpi_communicator(MPI_COMM_WORLD);
  }();
  return all;
}

void leave_world(int status) { detail::leave_mpi(status); }

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
// Entry point of the plug-in: MPI for communication between ranks.
#include "d5/core/entries/plugin.hpp"

#include <mpi.h>

#include <memory>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/communicator/transport.hpp"
#include "monitoring.hpp"
#include "mpi_communicator.hpp"
#include "mpi_runtime.hpp"
#include "mpi_window.hpp"

namespace d5::mpi {
namespace {

class MpiTransport final : public Transport {
 public:
  std::string description() const override { return library(); }

  std::shared_ptr<Communicator> world() override {
    start();
    return make_communicator(MPI_COMM_WORLD);
  }

  std::shared_ptr<Communicator> communicator_of(const void* handle) override {
    expect_running("communicator_of");
    const MPI_Comm comm = *static_cast<const MPI_Comm*>(handle);
    if (comm == MPI_COMM_NULL) {
      throw ValueError("communicator_of: given MPI_COMM_NULL, to which this rank does not belong");
    }
    int joins_two_groups = 0;
    MPI_Comm_test_inter(comm, &joins_two_groups);
    if (joins_two_groups) {
      throw Unsupported(
          "an inter-communicator is not a single group of ranks; merge it (MPI_Intercomm_merge)");
    }
    return make_communicator(comm);
  }

  void leave(int status) override { mpi::leave(status); }
};

void fill(Framework& framework) {
  framework.part<std::unique_ptr<Transport>>() = std::make_unique<MpiTransport>();
  framework.part<std::unique_ptr<LibraryTraffic>>() = std::make_unique<Monitoring>();
  framework.part<std::unique_ptr<LibraryWindows>>() = std::make_unique<MpiWindows>();
}

}  // namespace
}  // namespace d5::mpi

D5_FRAMEWORK_PLUGIN("mpi", d5::mpi::library().c_str(), d5::mpi::fill)

// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collectives/collective.hpp"

namespace d5::broadcast_algorithm {
namespace {

/// `Traffic` counts b bytes out of the root for each other rank, and into it, in one call.
class LibraryBroadcast final : public Broadcast {
 public:
  std::unique_ptr<Request> start(Communicator& communicator, Tensor& data, int root) override {
    return communicator.start_broadcast(data, root);
  }
  std::optional<Traffic::Line> volume(const CollectiveSize& size) const override {
    const std::int64_t bytes = size.ranks > 1 ? size.elements * size.element_bytes : 0;
    const bool root = size.rank == size.root;
    return Traffic::Line{1, root ? (size.ranks - 1) * bytes : 0, root ? 0 : bytes};
  }
};

}  // namespace

void register_mpi(Registry<BroadcastEntry>& registry) {
  registry.add("mpi", BroadcastEntry::of<LibraryBroadcast>("the MPI library's own (MPI_Ibcast)"));
}

}  // namespace d5::broadcast_algorithm

// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collectives/collective.hpp"

namespace d5::collective {
namespace {

/// The all-reduce of the communicator's library: MPI_Iallreduce under MPI.
///
/// `Traffic` counts 2 (n - 1) / n of the data out and in, in one call.
class LibraryAllReduce final : public AllReduce {
 public:
  std::unique_ptr<Request> start(Communicator& communicator, Tensor& data,
                                 Reduction reduction) override {
    return communicator.start_all_reduce(data, reduction);
  }
  std::optional<Traffic::Line> volume(const CollectiveSize& size) const override {
    const auto moved = Traffic::of_all_reduce(size.elements * size.element_bytes, size.ranks);
    return Traffic::Line{1, moved, moved};
  }
};

}  // namespace

void register_mpi(Registry<AllReduceEntry>& registry) {
  registry.add("mpi",
               AllReduceEntry::of<LibraryAllReduce>("the MPI library's own (MPI_Iallreduce)"));
}

}  // namespace d5::collective

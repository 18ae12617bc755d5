// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collectives/planned_collective.hpp"

namespace d5::all_gather_algorithm {
namespace {

/// `Traffic` counts this rank's part out to each other rank and the others' in, in one call.
class LibraryAllGather final : public AllGather {
 public:
  std::unique_ptr<Request> start(Communicator& communicator, const Tensor& mine, Tensor& all,
                                 const RankCounts& counts) override {
    return communicator.start_all_gather(mine, all, counts);
  }
  std::optional<Traffic::Line> volume(const CollectiveSize& size) const override {
    if (size.ranks == 1) return Traffic::Line{1, 0, 0};
    const std::int64_t mine = Parts(size.elements, size.ranks)[size.rank].size();
    return Traffic::Line{1, (size.ranks - 1) * mine * size.element_bytes,
                         (size.elements - mine) * size.element_bytes};
  }
};

}  // namespace

void register_mpi(Registry<AllGatherEntry>& registry) {
  registry.add("mpi",
               AllGatherEntry::of<LibraryAllGather>("the MPI library's own (MPI_Iallgather)"));
}

}  // namespace d5::all_gather_algorithm

// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collectives/planned_collective.hpp"

namespace d5::reduce_scatter_algorithm {
namespace {

/// `Traffic` counts the others' parts out, and this rank's part in from each, in one call.
class LibraryReduceScatter final : public ReduceScatter {
 public:
  std::unique_ptr<Request> start(Communicator& communicator, const Tensor& all, Tensor& mine,
                                 Reduction reduction, const RankCounts& counts) override {
    return communicator.start_reduce_scatter(all, mine, reduction, counts);
  }
  std::optional<Traffic::Line> volume(const CollectiveSize& size) const override {
    if (size.ranks == 1) return Traffic::Line{1, 0, 0};
    const std::int64_t mine = Parts(size.elements, size.ranks)[size.rank].size();
    return Traffic::Line{1, (size.elements - mine) * size.element_bytes,
                         (size.ranks - 1) * mine * size.element_bytes};
  }
};

}  // namespace

void register_mpi(Registry<ReduceScatterEntry>& registry) {
  registry.add("mpi", ReduceScatterEntry::of<LibraryReduceScatter>(
                          "the MPI library's own (MPI_Ireduce_scatter)"));
}

}  // namespace d5::reduce_scatter_algorithm

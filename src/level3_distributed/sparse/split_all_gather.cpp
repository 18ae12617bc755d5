// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/communicator/communication_schedule.hpp"
#include "d5/level3_distributed/sparse/sparse_all_reduce.hpp"
#include "level3_distributed/sparse/parts/split_reduce.hpp"

namespace d5::sparse {
namespace {

/// Rank r sums part r of all ranks and sends the sum to all. Best for many elements.
CommunicationSchedule split_all_gather(Communicator& ranks, SparseStream& stream, int tag) {
  const int n = ranks.size(), rank = ranks.rank();
  const std::vector<std::int64_t> begins = detail::equal_begins(stream.size(), n);
  detail::StreamMessages split(ranks, tag);
  detail::exchange_parts(split, ranks, stream, begins);
  co_await split.calls();
  const SparseStream sum = detail::sum_of_parts(split, ranks, stream, begins);

  detail::StreamMessages sums(ranks, tag);
  for (int step = 1; step < n; ++step) {
    const int from = (rank + n - step) % n;
    const auto p = static_cast<std::size_t>(from);
    sums.receive(begins[p + 1] - begins[p], from);
    sums.send(sum, (rank + step) % n);
  }
  co_await sums.calls();
  std::vector<SparseStream> parts;
  for (int r = 0; r < n; ++r) parts.push_back(r == rank ? sum : sums.from(r));
  stream = detail::joined(parts, begins);
}

class SplitAllGatherSum final : public SparseAllReduce {
 public:
  std::unique_ptr<Request> start(Communicator& ranks, SparseStream& stream) override {
    return run_schedule(ranks, split_all_gather(ranks, stream, ranks.own_tag()));
  }
};

}  // namespace

/// Source: Renggli et al., "SparCML" (SC'19), section 5.3.2, SSAR_Split_allgather.
void register_split_all_gather(Registry<SparseAllReduceEntry>& registry) {
  registry.add(
      "split_all_gather",
      SparseAllReduceEntry::of<SplitAllGatherSum>(
          "split, then sparse all-gather: for many elements (SparCML, Renggli et al., 2019)"));
}

}  // namespace d5::sparse

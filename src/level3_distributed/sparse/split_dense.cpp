// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/communicator/communication_schedule.hpp"
#include "d5/level3_distributed/sparse/sparse_all_reduce.hpp"
#include "level3_distributed/sparse/parts/split_reduce.hpp"

namespace d5::sparse {
namespace {

/// Like split_all_gather, but with a dense all-gather of the sums: for sums with few zeros.
CommunicationSchedule split_dense(Communicator& ranks, SparseStream& stream, int tag) {
  const int n = ranks.size();
  const std::vector<std::int64_t> begins = detail::equal_begins(stream.size(), n);
  detail::StreamMessages split(ranks, tag);
  detail::exchange_parts(split, ranks, stream, begins);
  co_await split.calls();
  const SparseStream sum = detail::sum_of_parts(split, ranks, stream, begins);

  Tensor mine = Tensor::empty(DType::float32, {sum.size()});
  sum.write(mine.span<float>());
  RankCounts counts;
  for (std::size_t r = 0; r + 1 < begins.size(); ++r) counts.push_back(begins[r + 1] - begins[r]);
  Tensor all = Tensor::empty(DType::float32, {stream.size()});
  auto gathered = ranks.start_all_gather(mine, all, counts);
  co_await gathered;
  const auto whole = all.span<float>();
  stream = SparseStream::dense({whole.begin(), whole.end()});
}

class SplitDenseSum final : public SparseAllReduce {
 public:
  std::unique_ptr<Request> start(Communicator& ranks, SparseStream& stream) override {
    return run_schedule(ranks, split_dense(ranks, stream, ranks.own_tag()));
  }
};

}  // namespace

/// Source: Renggli et al., "SparCML" (SC'19), section 5.3.3, DSAR_Split_allgather.
void register_split_dense(Registry<SparseAllReduceEntry>& registry) {
  registry.add(
      "split_dense",
      SparseAllReduceEntry::of<SplitDenseSum>(
          "split, then dense all-gather: for sums that fill up (SparCML, Renggli et al., 2019)"));
}

}  // namespace d5::sparse

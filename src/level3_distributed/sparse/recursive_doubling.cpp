// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "d5/level3_distributed/communicator/communication_schedule.hpp"
#include "d5/level3_distributed/sparse/sparse_all_reduce.hpp"
#include "level3_distributed/sparse/parts/stream_message.hpp"

namespace d5::sparse {
namespace {

/// Recursive doubling: in step s ranks r and r xor 2^s exchange and add their streams. Best for few
/// elements, where latency dominates. Ranks above the largest power of two hand over their streams
/// first and receive the sum at the end.
CommunicationSchedule recursive_doubling(Communicator& ranks, SparseStream& stream, int tag) {
  const int n = ranks.size(), rank = ranks.rank();
  const int whole = static_cast<int>(std::bit_floor(static_cast<unsigned>(n)));
  const std::int64_t size = stream.size();
  if (rank >= whole) {
    detail::StreamMessages hand_over(ranks, tag);
    hand_over.send(stream, rank - whole);
    hand_over.receive(size, rank - whole);
    co_await hand_over.calls();
    stream = hand_over.from(rank - whole);
    co_return;
  }
  const bool stands_for_another = rank + whole < n;
  if (stands_for_another) {
    detail::StreamMessages its(ranks, tag);
    its.receive(size, rank + whole);
    co_await its.calls();
    stream = stream.plus(its.from(rank + whole));
  }
  for (int step = 1; step < whole; step *= 2) {
    const int partner = rank ^ step;
    detail::StreamMessages both(ranks, tag);
    both.receive(size, partner);
    both.send(stream, partner);
    co_await both.calls();
    // Addition commutes, so both partners, and in the end all ranks, have the same bits.
    stream = stream.plus(both.from(partner));
  }
  if (stands_for_another) {
    detail::StreamMessages back(ranks, tag);
    back.send(stream, rank + whole);
    co_await back.calls();
  }
}

class RecursiveDoublingSum final : public SparseAllReduce {
 public:
  std::unique_ptr<Request> start(Communicator& ranks, SparseStream& stream) override {
    return run_schedule(ranks, recursive_doubling(ranks, stream, ranks.own_tag()));
  }
};

}  // namespace

/// Source: Renggli et al., "SparCML" (SC'19), section 5.3.1, SSAR_Recursive_double.
void register_recursive_doubling(Registry<SparseAllReduceEntry>& registry) {
  registry.add(
      "recursive_doubling",
      SparseAllReduceEntry::of<RecursiveDoublingSum>(
          "exchange at doubling distances: for few elements (SparCML, Renggli et al., 2019)"));
}

}  // namespace d5::sparse

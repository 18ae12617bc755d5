// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <memory>

#include "d5/level3_distributed/collective.hpp"
#include "d5/level3_distributed/communication_schedule.hpp"

namespace d5::collective {
namespace {

/// The data is cut into n parts. In n - 1 steps each rank passes a part to its right neighbour and
/// adds what comes from the left, after which rank r holds part r + 1 summed; in n - 1 more steps
/// the sums go round. A rank sends 2 (n - 1) / n of the data, the least possible.
///
/// Part p is summed in the order of ranks p, p + 1, ..., p - 1 and then copied, so every rank has
/// the same bits, whatever the timing.
CommunicationSchedule ring(Communicator& ranks, Tensor data, Reduction reduction, int tag) {
  const int n = ranks.size(), rank = ranks.rank();
  const int right = (rank + 1) % n, left = (rank + n - 1) % n;
  const auto part = [&](int p) {
    p = ((p % n) + n) % n;
    return data.slice(data.elements() * p / n, data.elements() * (p + 1) / n);
  };
  Tensor incoming = Tensor::empty(data.dtype(), {(data.elements() + n - 1) / n});
  for (int step = 0; step < 2 * (n - 1); ++step) {
    const bool reduces = step < n - 1;
    Tensor target = part(rank - step - 1);
    Tensor arriving = reduces ? incoming.slice(0, target.elements()) : target;
    std::vector<std::unique_ptr<Request>> both;
    both.push_back(ranks.start_receive(arriving, left, tag));
    both.push_back(ranks.start_send(part(rank - step), right, tag));
    co_await both;
    if (reduces) ranks.reduce_local(target, arriving, reduction);
  }
}

class RingAllReduce final : public AllReduce {
 public:
  std::unique_ptr<Request> start(Communicator& ranks, Tensor& data, Reduction reduction) override {
    return run_schedule(ranks,
                        ring(ranks, data.reshaped({data.elements()}), reduction, ranks.own_tag()));
  }
};

}  // namespace

/// Source: Patarasuk and Yuan, "Bandwidth Optimal All-reduce Algorithms for Clusters of
/// Workstations" (JPDC 2009).
void register_ring(Registry<AllReduceEntry>& registry) {
  registry.add("ring", AllReduceEntry::of<RingAllReduce>(
                           "d5's own ring over send and receive (Patarasuk and Yuan, 2009)"));
}

}  // namespace d5::collective

// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/planned_collective.hpp"
#include "level3_distributed/collectives/parts/ring_steps.hpp"
#include "level3_distributed/collectives/parts/segments.hpp"

namespace d5::collective {
namespace {

/// A ring for each of s segments of every part, each a step behind the one before: while one is
/// summed, the next arrives.
///
/// Bytes as the ring's, in 2 (n - 1) s messages, s = ceil(b / n / segment_bytes).
class SegmentedRingAllReduce final : public PlannedAllReduce {
 public:
  using Options = detail::SegmentOptions;
  explicit SegmentedRingAllReduce(const Options& options) : options_(options) {}

  CollectivePlan plan(const CollectiveSize& size) const override {
    const Parts parts(size.elements, size.ranks);
    const std::int64_t largest = (size.elements + size.ranks - 1) / size.ranks;
    const std::int64_t segments = options_.number(largest, size.element_bytes);
    CollectivePlan plan;
    for (std::int64_t s = 0; s < segments; ++s) {
      detail::append_ring_all_reduce(plan, size.rank, size.ranks, std::size_t(s), [&](int part) {
        return detail::segment(parts[part], s, segments);
      });
    }
    return plan;
  }

 private:
  Options options_;
};

}  // namespace

void register_segmented_ring(Registry<AllReduceEntry>& registry) {
  registry.add("segmented_ring", AllReduceEntry::of<SegmentedRingAllReduce>(
                                     "the ring, pipelined in segments of every part"));
}

}  // namespace d5::collective

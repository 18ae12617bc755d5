// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collectives/planned_collective.hpp"
#include "level3_distributed/collectives/parts/ring_steps.hpp"
#include "level3_distributed/collectives/parts/segments.hpp"

namespace d5::collective {
namespace {

/// A ring for each of the s segments of every part, each one step behind the previous: while one
/// segment is summed, the next arrives.
///
/// Bytes as the ring's, in 2 (n - 1) s messages, s = ceil(b / n / segment_bytes).
class SegmentedRingAllReduce final : public PlannedAllReduce {
 public:
  using Options = detail::SegmentOptions;
  explicit SegmentedRingAllReduce(const Options& options) : options_(options) {}

  CollectivePlan plan(const CollectiveSize& size) const override {
    return detail::segmented_ring_plan(size, options_.segment_bytes);
  }
  std::optional<CollectivePlan> plan_in_chunks(const CollectiveSize& size,
                                               std::int64_t chunk_bytes) const override {
    return detail::segmented_ring_plan(size, chunk_bytes);
  }

 private:
  Options options_;
};

}  // namespace

void register_segmented_ring(Registry<AllReduceEntry>& registry) {
  registry.add("segmented_ring", AllReduceEntry::of<SegmentedRingAllReduce>(
                                     "ring pipelined in segments of each part"));
}

}  // namespace d5::collective

// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/collectives/parts/ring_steps.hpp"

#include "level3_distributed/collectives/parts/segments.hpp"

namespace d5::detail {

void append_ring(CollectivePlan& plan, const RingSteps& ring,
                 const std::function<ElementRange(int)>& range) {
  const int n = ring.ranks;
  for (int step = 0; step < n - 1; ++step) {
    const int part = ring.rank + ring.shift - step;
    auto& round = plan.round(ring.first_round + std::size_t(step));
    round.sends.push_back({(ring.rank + 1) % n, range(part)});
    round.receives.push_back({(ring.rank + n - 1) % n, range(part - 1), ring.then});
  }
}

void append_ring_all_reduce(CollectivePlan& plan, int rank, int ranks, std::size_t first_round,
                            const std::function<ElementRange(int)>& range) {
  append_ring(plan,
              {.rank = rank,
               .ranks = ranks,
               .first_round = first_round,
               .then = CollectivePlan::Then::reduce},
              range);
  append_ring(plan,
              {.rank = rank,
               .ranks = ranks,
               .first_round = first_round + std::size_t(ranks - 1),
               .shift = 1},
              range);
}

CollectivePlan segmented_ring_plan(const CollectiveSize& size, std::int64_t segment_bytes) {
  const Parts parts(size.elements, size.ranks);
  const std::int64_t largest = (size.elements + size.ranks - 1) / size.ranks;
  const std::int64_t segments = SegmentOptions{segment_bytes}.number(largest, size.element_bytes);
  CollectivePlan plan;
  for (std::int64_t s = 0; s < segments; ++s) {
    append_ring_all_reduce(plan, size.rank, size.ranks, std::size_t(s),
                           [&](int part) { return segment(parts[part], s, segments); });
  }
  return plan;
}

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/collectives/parts/ring_steps.hpp"

#include <algorithm>

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

namespace {

/// The neighbours of a member of a ring of `size` ranks, `stride` apart, from `first` on.
struct RingPlace {
  int size, place, first, stride;
  [[nodiscard]] int rank(int of) const { return first + (of + size) % size * stride; }
};

/// Round `step` of a ring that reduces, or that distributes the sums, over parts from `begin` on.
CollectivePlan::Round ring_round(const RingPlace& ring, int step, bool reduces, const Parts& parts,
                                 std::int64_t begin = 0) {
  const int part = ring.place + (reduces ? 0 : 1) - step;
  const auto range = [&](int index) {
    const ElementRange own = parts[index];
    return ElementRange{begin + own.begin, begin + own.end};
  };
  return {{{ring.rank(ring.place + 1), range(part)}},
          {{ring.rank(ring.place - 1), range(part - 1),
            reduces ? CollectivePlan::Then::reduce : CollectivePlan::Then::keep}}};
}

std::int64_t largest_part(std::int64_t elements, int parts) {
  return parts > 1 ? (elements + parts - 1) / parts : 0;
}

}  // namespace

PlannedRounds ring_all_reduce_rounds(const CollectiveSize& size) {
  const int n = size.ranks, steps = n - 1;
  return {.count = 2 * std::size_t(steps),
          .round =
              [=, ring = RingPlace{n, size.rank, 0, 1},
               parts = Parts(size.elements, n)](std::size_t index) {
                const int i = int(index);
                return ring_round(ring, i % steps, i < steps, parts);
              },
          .scratch_elements = largest_part(size.elements, n)};
}

PlannedRounds two_level_ring_rounds(const CollectiveSize& size, int ranks_per_node) {
  const int n = size.ranks, k = ranks_per_node;
  if (k <= 1 || n % k != 0) return ring_all_reduce_rounds(size);
  const int nodes = n / k, place = size.rank % k;
  const RingPlace inside{k, place, size.rank - place, 1}, between{nodes, size.rank / k, place, k};
  const Parts parts(size.elements, k);
  const ElementRange own = parts[place + 1];  // whose sum the first ring leaves here
  const Parts own_parts(own.size(), nodes);
  const int first = k - 1, across = nodes - 1;
  return {.count = std::size_t(2 * first + 2 * across),
          .round =
              [=](std::size_t index) {
                const int i = int(index);
                if (i < first) return ring_round(inside, i, true, parts);
                if (i >= first + 2 * across) {
                  return ring_round(inside, i - first - 2 * across, false, parts);
                }
                const int step = i - first;
                return ring_round(between, step % across, step < across, own_parts, own.begin);
              },
          .scratch_elements =
              std::max(largest_part(size.elements, k), largest_part(own.size(), nodes))};
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

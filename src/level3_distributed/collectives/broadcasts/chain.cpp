// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collectives/planned_collective.hpp"
#include "level3_distributed/collectives/parts/segments.hpp"

namespace d5::broadcast_algorithm {
namespace {

/// Passes segments from rank to rank: each rank forwards one while the next arrives.
///
/// All but the last send b bytes in s messages, all but the root receive as many,
/// s = ceil(b / segment_bytes).
class ChainBroadcast final : public PlannedBroadcast {
 public:
  using Options = detail::SegmentOptions;
  explicit ChainBroadcast(const Options& options) : options_(options) {}

  CollectivePlan plan(const CollectiveSize& size) const override {
    const int n = size.ranks, link = (size.rank - size.root + n) % n;
    const std::int64_t segments = options_.number(size.elements, size.element_bytes);
    CollectivePlan plan;
    for (std::int64_t s = 0; s < segments; ++s) {
      const ElementRange range = detail::segment({0, size.elements}, s, segments);
      const auto round = std::size_t(s + link);
      if (link > 0) plan.round(round - 1).receives.push_back({(size.rank + n - 1) % n, range});
      if (link < n - 1) plan.round(round).sends.push_back({(size.rank + 1) % n, range});
    }
    return plan;
  }

 private:
  Options options_;
};

}  // namespace

void register_chain(Registry<BroadcastEntry>& registry) {
  registry.add("chain",
               BroadcastEntry::of<ChainBroadcast>("pipeline of segments from rank to rank"));
}

}  // namespace d5::broadcast_algorithm

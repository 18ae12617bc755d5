// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <vector>

#include "d5/level2_training/subset.hpp"
#include "d5/level3_distributed/sample_cut.hpp"
#include "level3_distributed/samples/even_share.hpp"

namespace d5 {
namespace {

/// The same samples in every epoch, which lie together: a rank opens its own files alone.
class ShardsCut final : public SampleCut {
 public:
  std::shared_ptr<Sampler> sampler(std::shared_ptr<const Dataset> dataset,
                                   const SamplerEntry& order, const Settings& settings, int share,
                                   int shares) const override {
    const detail::EvenShare mine = detail::even_share(*dataset, share, shares);
    std::vector<std::int64_t> samples(static_cast<std::size_t>(mine.size));
    std::iota(samples.begin(), samples.end(), mine.first);
    return order.make(std::make_shared<SubsetDataset>(std::move(dataset), std::move(samples)),
                      settings);
  }
};

}  // namespace

namespace sample_cut {
void register_shards(Registry<SampleCutEntry>& registry) {
  registry.add("shards", SampleCutEntry::of<ShardsCut>(
                             "an even share of all that lies together, the same every epoch"));
}
}  // namespace sample_cut

}  // namespace d5

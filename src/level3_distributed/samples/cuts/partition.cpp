// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/samples/distributed_sampler.hpp"
#include "d5/level3_distributed/samples/sample_cut.hpp"

namespace d5 {
namespace {

/// One part of each global batch per rank: together the ranks see what a single rank would.
class PartitionCut final : public SampleCut {
 public:
  std::shared_ptr<Sampler> sampler(std::shared_ptr<const Dataset> dataset,
                                   const SamplerEntry& order, const Settings& settings, int share,
                                   int shares) const override {
    return distributed_sampler(std::move(dataset), order, settings, share, shares);
  }
};

}  // namespace

namespace sample_cut {
void register_partition(Registry<SampleCutEntry>& registry) {
  registry.add("partition",
               SampleCutEntry::of<PartitionCut>(
                   "one part of each global batch per rank: the same training as on one rank"));
}
}  // namespace sample_cut

}  // namespace d5

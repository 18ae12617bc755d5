// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/samples/sample_cut.hpp"

namespace d5 {
namespace {

/// Distributes whole batches, those of a single rank, round-robin.
class BatchesCut final : public SampleCut {
 public:
  std::shared_ptr<Sampler> sampler(std::shared_ptr<const Dataset> dataset,
                                   const SamplerEntry& order, const Settings& settings, int share,
                                   int shares) const override {
    auto sampler = order.make(std::move(dataset), settings);
    sampler->take_batches(share, shares);
    return sampler;
  }
  bool is_even() const override { return false; }
  bool is_complete() const override { return true; }
};

}  // namespace

namespace sample_cut {
void register_batches(Registry<SampleCutEntry>& registry) {
  registry.add("batches", SampleCutEntry::of<BatchesCut>(
                              "whole batches, round-robin over the ranks; for test sets"));
}
}  // namespace sample_cut

}  // namespace d5

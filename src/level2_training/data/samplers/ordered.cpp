// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/index_sampler.hpp"

namespace d5 {
namespace {

/// Batches in the order of the dataset, the same in every epoch.
class OrderedSampler final : public IndexSampler {
 public:
  using IndexSampler::IndexSampler;

 private:
  void arrange(std::int64_t, EpochOrder&) override {}
};

}  // namespace

namespace sampler {

void register_ordered(Registry<SamplerEntry>& registry) {
  registry.add("ordered", SamplerEntry::of<OrderedSampler>("sequential, in dataset order"));
}

}  // namespace sampler
}  // namespace d5

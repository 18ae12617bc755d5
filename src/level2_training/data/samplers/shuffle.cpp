// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/index_sampler.hpp"

namespace d5 {
namespace {

/// A new permutation every epoch, determined by the seed and the epoch.
class ShuffleSampler final : public IndexSampler {
 public:
  using IndexSampler::IndexSampler;

 private:
  void arrange(std::int64_t epoch, EpochOrder& order) override {
    stream("shuffle sampler", epoch).shuffle(order.samples);
  }
};

}  // namespace

namespace sampler {

void register_shuffle(Registry<SamplerEntry>& registry) {
  registry.add("shuffle",
               SamplerEntry::of<ShuffleSampler>("random permutation, a new one every epoch"));
}

}  // namespace sampler
}  // namespace d5

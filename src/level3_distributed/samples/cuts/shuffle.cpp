// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "d5/level2_training/data/index_sampler.hpp"
#include "d5/level3_distributed/samples/sample_cut.hpp"
#include "level3_distributed/samples/even_share.hpp"

namespace d5 {
namespace {

/// An equal share of a permutation of all samples; the permutation changes every epoch.
class ShareSampler final : public IndexSampler {
 public:
  ShareSampler(const std::shared_ptr<const Dataset>& dataset, const SamplerOptions& options,
               int share, int shares)
      : IndexSampler(dataset, options, size_of(*dataset, options, share, shares)),
        first_(detail::even_share(*dataset, share, shares).first) {}

 private:
  /// Samples left out are counted over all shares.
  static EpochSize size_of(const Dataset& dataset, const SamplerOptions& options, int share,
                           int shares) {
    const detail::EvenShare mine = detail::even_share(dataset, share, shares);
    EpochSize size = even_batches(dataset, options, mine.size);
    size.left_out = size.left_out * shares + mine.left_out;
    return size;
  }

  SamplerLaw promise() const override { return {.draws = size().draws, .least = 0}; }

  void arrange(std::int64_t epoch, EpochOrder& order) override {
    stream("shuffle across ranks", epoch).shuffle(order.samples);
    std::ranges::rotate(order.samples, order.samples.begin() + first_);
  }

  std::int64_t first_;
};

class ShuffleCut final : public SampleCut {
 public:
  std::shared_ptr<Sampler> sampler(std::shared_ptr<const Dataset> dataset, const SamplerEntry&,
                                   const Settings& settings, int share, int shares) const override {
    return std::make_shared<ShareSampler>(dataset, read_options<SamplerOptions>(settings), share,
                                          shares);
  }
};

}  // namespace

namespace sample_cut {
void register_shuffle(Registry<SampleCutEntry>& registry) {
  registry.add(
      "shuffle",
      SampleCutEntry::of<ShuffleCut>(
          "global shuffle every epoch, cut into equal shares; replaces the sampler's own order"));
}
}  // namespace sample_cut

}  // namespace d5

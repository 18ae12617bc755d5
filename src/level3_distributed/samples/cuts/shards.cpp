// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <vector>

#include "d5/level2_training/data/subset.hpp"
#include "d5/level3_distributed/samples/sample_cut.hpp"
#include "level3_distributed/samples/even_share.hpp"

namespace d5 {
namespace {

/// The sampler of one shard; it also accounts for samples that all shards leave out.
class ShardSampler final : public Sampler {
 public:
  ShardSampler(std::shared_ptr<Sampler> mine, std::int64_t left_out)
      : mine_(std::move(mine)), left_out_(left_out) {}
  const Batch* next() override { return mine_->next(); }
  void reset(std::int64_t epoch) override { mine_->reset(epoch); }
  void seek(std::int64_t epoch, std::int64_t index) override { mine_->seek(epoch, index); }
  [[nodiscard]] std::int64_t batches() const override { return mine_->batches(); }
  [[nodiscard]] SamplerLaw law() const override { return mine_->law(); }
  [[nodiscard]] std::map<std::string, std::string> settings() const override {
    return mine_->settings();
  }
  [[nodiscard]] const Dataset& dataset() const override { return mine_->dataset(); }
  [[nodiscard]] std::int64_t left_out() const override { return left_out_; }
  void take_part(int rank, int ranks) override { mine_->take_part(rank, ranks); }
  void take_batches(int rank, int ranks) override { mine_->take_batches(rank, ranks); }
  void read_ahead(int threads) override { mine_->read_ahead(threads); }

 private:
  std::shared_ptr<Sampler> mine_;
  std::int64_t left_out_;
};

/// Contiguous shards, the same in every epoch, so that a rank opens only its own files.
class ShardsCut final : public SampleCut {
 public:
  std::shared_ptr<Sampler> sampler(std::shared_ptr<const Dataset> dataset,
                                   const SamplerEntry& order, const Settings& settings, int share,
                                   int shares) const override {
    const detail::EvenShare mine = detail::even_share(*dataset, share, shares);
    std::vector<std::int64_t> samples(static_cast<std::size_t>(mine.size));
    std::iota(samples.begin(), samples.end(), mine.first);
    auto sampler = order.make(
        std::make_shared<SubsetDataset>(std::move(dataset), std::move(samples)), settings);
    const std::int64_t left_out = sampler->left_out() * shares + mine.left_out;
    return std::make_shared<ShardSampler>(std::move(sampler), left_out);
  }
};

}  // namespace

namespace sample_cut {
void register_shards(Registry<SampleCutEntry>& registry) {
  registry.add("shards", SampleCutEntry::of<ShardsCut>(
                             "contiguous shards of equal size, the same every epoch"));
}
}  // namespace sample_cut

}  // namespace d5

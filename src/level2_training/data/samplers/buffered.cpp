// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "d5/level2_training/data/index_sampler.hpp"

namespace d5 {
namespace {

struct BufferedOptions : SamplerOptions {
  std::int64_t buffer_size = 1000;
  void declare(OptionList& options) {
    SamplerOptions::declare(options);
    options.add("buffer_size", buffer_size, "size of the shuffle buffer, in samples", {.least = 1});
  }
};

/// A shuffle for data that is read in order. Each draw takes a random sample from a buffer, and the
/// next sample of the data set takes its place. Sample i comes at draw i - buffer_size + 1 at the
/// earliest.
///
/// Source: tf.data's `Dataset.shuffle(buffer_size)`.
class BufferedSampler final : public IndexSampler {
 public:
  using Options = BufferedOptions;
  BufferedSampler(std::shared_ptr<const Dataset> dataset, const Options& options)
      : IndexSampler(std::move(dataset), options), buffer_size_(options.buffer_size) {}

 private:
  void arrange(std::int64_t epoch, EpochOrder& order) override {
    RandomStream random = stream("buffered sampler", epoch);
    auto next = order.samples.begin() + std::min(buffer_size_, std::int64_t(order.samples.size()));
    buffer_.assign(order.samples.begin(), next);
    for (std::int64_t& drawn : order.samples) {
      std::int64_t& place = buffer_[random.below(buffer_.size())];
      drawn = place;
      if (next != order.samples.end()) {
        place = *next++;  // no draw has reached it
      } else {
        place = buffer_.back();
        buffer_.pop_back();
      }
    }
  }

  std::int64_t buffer_size_;
  std::vector<std::int64_t> buffer_;
};

}  // namespace

namespace sampler {

void register_buffered(Registry<SamplerEntry>& registry) {
  registry.add("buffered",
               SamplerEntry::of<BufferedSampler>(
                   "shuffle buffer: random draws from a buffer that is filled in dataset order"));
}

}  // namespace sampler
}  // namespace d5

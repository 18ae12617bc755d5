// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/index_sampler.hpp"

namespace d5 {
namespace {

struct ReplicateOptions : SamplerOptions {
  std::int64_t copies = 2;
  void declare(OptionList& options) {
    SamplerOptions::declare(options);
    options.add("copies", copies, "copies of each sample in its batch; must divide the batch size",
                {.least = 1});
  }
};

/// A new permutation every epoch, in which each batch repeats each of its samples several times:
/// first all of them, then all again. Each copy is drawn separately, so augmentations differ.
///
/// Source: Hoffer et al., "Augment your batch: better training with larger batches" (2019).
class ReplicateSampler final : public IndexSampler {
 public:
  using Options = ReplicateOptions;
  ReplicateSampler(std::shared_ptr<const Dataset> dataset, const Options& options)
      : IndexSampler(
            dataset, options,
            even_batches(*dataset, checked(*dataset, options), dataset->size() * options.copies)),
        copies_(options.copies) {}

 private:
  static const Options& checked(const Dataset& dataset, const Options& options) {
    if (options.batch_size % options.copies == 0) return options;
    throw ValueError(
        fmt::format("sampler replicate of '{}': a batch of {} cannot hold {} copies of each of its "
                    "samples; choose a batch size that is a multiple",
                    printable(dataset.name()), options.batch_size, options.copies));
  }
  [[nodiscard]] SamplerLaw promise() const override {
    return {.draws = size().draws, .least = copies_, .most = copies_};
  }
  void arrange(std::int64_t epoch, EpochOrder& order) override {
    permutation_ = order.samples;
    stream("replicate sampler", epoch).shuffle(permutation_);
    order.samples.clear();
    auto first = permutation_.begin();
    std::int64_t begin = 0;
    for (const std::int64_t end : order.ends) {
      const auto last = first + (end - begin) / copies_;
      for (std::int64_t copy = 0; copy < copies_; ++copy) {
        order.samples.insert(order.samples.end(), first, last);
      }
      first = last;
      begin = end;
    }
  }

  std::int64_t copies_;
  std::vector<std::int64_t> permutation_;
};

}  // namespace

namespace sampler {

void register_replicate(Registry<SamplerEntry>& registry) {
  registry.add(
      "replicate",
      SamplerEntry::of<ReplicateSampler>(
          "batch augmentation: several copies of each sample in its batch (Hoffer et al., 2019)"));
}

}  // namespace sampler
}  // namespace d5

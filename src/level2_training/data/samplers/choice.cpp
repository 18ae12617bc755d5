// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/index_sampler.hpp"

namespace d5 {
namespace {

struct ChoiceOptions : SamplerOptions {
  std::int64_t draws = 0;
  void declare(OptionList& options) {
    SamplerOptions::declare(options);
    options.add("draws", draws, "samples per epoch; 0: all", {.least = 0});
  }
};

/// A random subset of the samples, each at most once; a new subset every epoch, all equally likely.
class ChoiceSampler final : public IndexSampler {
 public:
  using Options = ChoiceOptions;
  ChoiceSampler(std::shared_ptr<const Dataset> dataset, const Options& options)
      : IndexSampler(dataset, options, even_batches(*dataset, options, draws(*dataset, options))) {}

 private:
  static std::int64_t draws(const Dataset& dataset, const Options& options) {
    if (options.draws <= dataset.size()) return options.draws > 0 ? options.draws : dataset.size();
    throw ValueError(fmt::format(
        "sampler choice: draws is {}, but '{}' has {} samples; draw fewer, or with replacement by "
        "the sampler weighted",
        options.draws, printable(dataset.name()), dataset.size()));
  }
  [[nodiscard]] SamplerLaw promise() const override {
    const auto samples = std::size_t(dataset().size());
    return {.draws = size().draws,
            .least = size().draws == dataset().size() ? 1 : 0,
            .chances = std::vector<double>(samples, 1.0 / double(samples))};
  }
  void arrange(std::int64_t epoch, EpochOrder& order) override {
    stream("choice sampler", epoch).shuffle(order.samples);
  }
};

}  // namespace

namespace sampler {

void register_choice(Registry<SamplerEntry>& registry) {
  registry.add("choice",
               SamplerEntry::of<ChoiceSampler>("random subset in each epoch, without replacement"));
}

}  // namespace sampler
}  // namespace d5

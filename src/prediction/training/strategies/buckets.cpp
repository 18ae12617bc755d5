// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/training/prediction_strategy.hpp"

namespace d5::prediction_strategy {
namespace {

struct BucketsOptions {
  std::int64_t bytes = std::int64_t{25} << 20, first = 0, last = 0;
  void declare(OptionList& options) {
    options.add("bytes", bytes, "minimum bytes of a bucket", {.least = 1, .unit = "byte"});
    options.add("first", first, "minimum bytes of the first bucket; 0: as bytes",
                {.least = 0, .unit = "byte"});
    options.add("last", last, "approximate bytes of the last bucket; 0: as bytes",
                {.least = 0, .unit = "byte"});
  }
};

/// Sets the scheme's bucket sizes.
class Buckets final : public PredictionStrategy {
 public:
  using Options = BucketsOptions;
  explicit Buckets(const Options& options) : options_(options) {}
  void apply(PlannedTraining& plan) const override {
    Settings& settings = plan.training.scheme.settings;
    settings.set("bucket_bytes", options_.bytes);
    if (options_.first > 0) settings.set("first_bucket_bytes", options_.first);
    if (options_.last > 0) settings.set("last_bucket_bytes", options_.last);
  }

 private:
  Options options_;
};

}  // namespace

void register_buckets(Registry<PredictionStrategyEntry>& registry) {
  registry.add("buckets", PredictionStrategyEntry::of<Buckets>("gradient buckets of another size"));
}

}  // namespace d5::prediction_strategy

// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/training/prediction_strategy.hpp"

namespace d5::prediction_strategy {
namespace {

struct ComputeOptions {
  double factor = 2;
  void declare(OptionList& options) {
    options.add("factor", factor, "speed-up of the computation", {.above = 0});
  }
};

/// A faster machine: divides the time of every piece of the profile by the factor.
class Compute final : public PredictionStrategy {
 public:
  using Options = ComputeOptions;
  explicit Compute(const Options& options) : options_(options) {}
  void apply(PlannedTraining& plan) const override {
    plan.training.compute_factor /= options_.factor;
  }

 private:
  Options options_;
};

}  // namespace

void register_compute(Registry<PredictionStrategyEntry>& registry) {
  registry.add("compute", PredictionStrategyEntry::of<Compute>("faster computation"));
}

}  // namespace d5::prediction_strategy

// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/schemes/mixing/model_average.hpp"
#include "level3_distributed/schemes/mixing/own_parameters.hpp"

namespace d5 {
namespace {

/// Local SGD: each rank trains alone, and all ranks average their parameters periodically.
///
/// Source: Stich, "Local SGD Converges Fast and Communicates Little" (2019), algorithm 1.
class ModelAveraging final : public detail::OwnParameters {
 public:
  using Options = detail::ModelAverageOptions;
  ModelAveraging(std::shared_ptr<ThreeStepOptimizer> optimizer, std::shared_ptr<Communicator> ranks,
                 const Options& options)
      : OwnParameters(std::move(optimizer), ranks, "model_averaging"),
        average_(ranks, options, local()) {}

  const ValueMap& step(const Batch& batch) override {
    return step_then(batch, [this] {
      if (!average_.is_due()) return;
      Tensor x = values();
      average_.average(x, local());
    });
  }

 private:
  Memory memory() const override { return {{"steps", average_.steps()}}; }

  detail::ModelAverage average_;
};

}  // namespace

namespace distributed_optimizer {

void register_model_averaging(Registry<DistributedOptimizerEntry>& registry) {
  registry.add("model_averaging",
               DistributedOptimizerEntry::of<ModelAveraging>(
                   "periodic averaging of parameters (local SGD, Stich, 2019; Deep500's mavg)"));
}

}  // namespace distributed_optimizer
}  // namespace d5

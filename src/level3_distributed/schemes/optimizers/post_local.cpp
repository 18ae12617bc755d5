// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/schemes/mixing/model_average.hpp"
#include "level3_distributed/schemes/mixing/own_parameters.hpp"

namespace d5 {
namespace {

struct PostLocalOptions {
  std::int64_t until = 100;
  detail::ModelAverageOptions average = {};

  void declare(OptionList& options) {
    options.add("until", until, "number of steps with gradient averaging", {.least = 0});
    average.declare(options);
  }
};

/// Post-local SGD: averages gradients in the first steps, like consistent_decentralized; then each
/// rank trains alone, and all ranks average their parameters periodically.
///
/// Source: Lin et al., "Don't Use Large Mini-Batches, Use Local SGD" (2020), section 3.
class PostLocal final : public detail::OwnParameters {
 public:
  using Options = PostLocalOptions;
  PostLocal(const std::shared_ptr<ThreeStepOptimizer>& optimizer,
            std::shared_ptr<Communicator> ranks, const Options& options)
      : OwnParameters(optimizer, ranks, "post_local"),
        until_(options.until),
        average_(ranks, options.average, local()),
        together_(distributed_optimizers()
                      .at("consistent_decentralized")
                      .make(optimizer, ranks, all_reduce_of(options.average.all_reduce))) {}

  const ValueMap& step(const Batch& batch) override {
    if (average_.steps().item<std::int64_t>() < until_) {
      (void)average_.is_due();  // parameters are equal already
      return together_->step(batch);
    }
    if (together_) part();
    return step_then(batch, [this] {
      if (!average_.is_due()) return;
      Tensor x = values();
      average_.average(x, local());
    });
  }

 private:
  static Settings all_reduce_of(const EntryChoice& choice) {
    Settings settings("scheme post_local", {{"all_reduce.name", choice.name}});
    for (const auto& [key, text] : choice.settings.values()) {
      settings.set("all_reduce." + key, text);
    }
    return settings;
  }

  /// Ends gradient averaging.
  void part() {
    local().add_gradient_layer(ThreeStepOptimizer::GradientLayer::exchanged,
                               [](std::shared_ptr<GradientSource> inner) { return inner; });
    local().set_agreement(std::make_shared<RankAgreement>());
    together_.reset();
  }

  Memory memory() const override { return {{"steps", average_.steps()}}; }

  std::int64_t until_;
  detail::ModelAverage average_;
  std::shared_ptr<DistributedOptimizer> together_;  // null after `part`
};

}  // namespace

namespace distributed_optimizer {

void register_post_local(Registry<DistributedOptimizerEntry>& registry) {
  registry.add(
      "post_local",
      DistributedOptimizerEntry::of<PostLocal>(
          "gradient averaging at first, then model averaging (post-local SGD, Lin et al., 2020)"));
}

}  // namespace distributed_optimizer
}  // namespace d5

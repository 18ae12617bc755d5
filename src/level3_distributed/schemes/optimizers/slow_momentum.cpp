// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "level3_distributed/schemes/mixing/add_times.hpp"
#include "level3_distributed/schemes/mixing/model_average.hpp"
#include "level3_distributed/schemes/mixing/own_parameters.hpp"

namespace d5 {
namespace {

struct SlowMomentumOptions {
  double alpha = 1, beta = 0.5;
  // Resets local momentum by default: kept beside the slow momentum, it would count each update
  // twice.
  detail::ModelAverageOptions average = {.state = detail::ModelAverageOptions::State::reset};

  void declare(OptionList& options) {
    options.add("alpha", alpha, "slow learning rate", {.above = 0});
    options.add("beta", beta, "slow momentum", {.least = 0, .below = 1});
    average.declare(options);
  }
};

/// Each rank trains alone from x0. Periodically, with the mean xbar of all ranks and the learning
/// rate eta: u <- beta u + (x0 - xbar) / eta, x0 <- x0 - alpha eta u, and all ranks continue from
/// x0.
///
/// Source: Wang et al., "SlowMo: Improving Communication-Efficient Distributed SGD with Slow
/// Momentum" (2020), algorithm 1.
class SlowMomentum final : public detail::OwnParameters {
 public:
  using Options = SlowMomentumOptions;
  SlowMomentum(std::shared_ptr<ThreeStepOptimizer> optimizer, std::shared_ptr<Communicator> ranks,
               const Options& options)
      : OwnParameters(std::move(optimizer), ranks, "slow_momentum"),
        options_(options),
        average_(ranks, options.average, local()),
        start_(zeros()),
        momentum_(zeros()) {
    (void)learning_rate();
  }

  const ValueMap& step(const Batch& batch) override {
    if (average_.steps().item<std::int64_t>() == 0) start_.copy_from(values());
    return step_then(batch, [this] {
      if (average_.is_due()) move();
    });
  }

 private:
  void move() {
    const double eta = learning_rate();
    if (!(eta > 0)) {
      throw ValueError(
          fmt::format("scheme slow_momentum: the learning rate is {} at an average, and the scheme "
                      "divides by it; choose a schedule that stays above 0",
                      eta));
    }
    Tensor x = values();
    average_.average(x, local());
    communicator().scale_local(momentum_, options_.beta);
    detail::add_times(momentum_, 1 / eta, start_);
    detail::add_times(momentum_, -1 / eta, x);
    detail::add_times(start_, -options_.alpha * eta, momentum_);
    x.copy_from(start_);
  }

  Memory memory() const override {
    return {{"steps", average_.steps()}, {"start", start_}, {"momentum", momentum_}};
  }

  Options options_;
  detail::ModelAverage average_;
  Tensor start_, momentum_;
};

}  // namespace

namespace distributed_optimizer {

void register_slow_momentum(Registry<DistributedOptimizerEntry>& registry) {
  registry.add("slow_momentum",
               DistributedOptimizerEntry::of<SlowMomentum>(
                   "slow momentum on top of model averaging (SlowMo, Wang et al., 2020)"));
}

}  // namespace distributed_optimizer
}  // namespace d5

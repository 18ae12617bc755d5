// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/level2_training/optimization/element_optimizer.hpp"
#include "level2_training/optimization/declared_options.hpp"
#include "level2_training/optimization/shared/adam_step.hpp"

namespace d5 {
namespace {

struct FrozenAdamOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-3;  // bounds steps where there was hardly a gradient in the warm-up
  double weight_decay = 0;
  double warm_up = 1000;  // a number, so that it is a hyper-parameter, which exchanges see

  void declare(OptionList& options) {
    detail::declare_rate_and_decay(options, *this);
    detail::declare_moments(options, *this);
    options.add("warm_up", warm_up, "number of steps after which the second moment is frozen",
                {.least = 1});
  }
};

/// Adam up to step `warm_up`; then v and its correction are frozen. The rest is momentum with a
/// rate for each element, which is linear in the gradients, so these may be compressed with error
/// feedback. An element whose v was near zero in the warm-up is divided by little more than epsilon
/// from then on, while compression makes its gradient as large as its neighbours': an epsilon of
/// 1e-4 is too small for LeNet.
template <class T>
struct FrozenAdam {
  using Options = FrozenAdamOptions;
  static constexpr std::array kSlots{"first_moment", "second_moment"};
  FrozenAdam(const Options& options, std::int64_t step)
      : adam(options, step), decay(T(options.weight_decay)) {
    const double last = std::floor(options.warm_up);
    if (double(step) <= last) return;
    adam.root_correction = T(std::sqrt(1 - std::pow(options.beta2, last)));
    adam.moments.beta2 = 1;
    adam.moments.rest2 = 0;
  }
  void operator()(T g, T& w, T& m, T& v) const { w -= adam(g + decay * w, m, v); }
  detail::AdamStep<T> adam;
  T decay;
};

}  // namespace

namespace optimizer {

/// Source: Tang et al., "1-bit Adam: Communication Efficient Large-Scale Training with Adam's
/// Convergence Speed" (ICML 2021), without compression; Adam's corrections are kept.
void register_frozen_adam(Registry<OptimizerEntry>& registry) {
  registry.add("frozen_adam", ElementOptimizer<FrozenAdam>::entry(
                                  "Adam with the second moment frozen after warm_up steps, as in "
                                  "1-bit Adam (Tang et al., 2021)"));
}

}  // namespace optimizer
}  // namespace d5

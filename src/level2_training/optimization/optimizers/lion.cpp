// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/element_optimizer.hpp"

namespace d5 {
namespace {

struct LionOptions {
  double learning_rate = 1e-4;
  double beta1 = 0.9;
  double beta2 = 0.99;
  double weight_decay = 0;

  void declare(OptionList& options) {
    options.add("learning_rate", learning_rate, "step size of every element", {.least = 0});
    options.add(
        "weight_decay", weight_decay,
        "decoupled weight decay: each step shrinks the parameter by learning_rate times this",
        {.least = 0});
    options.add("beta1", beta1, "weight of the moment in the step's sign",
                {.least = 0, .below = 1});
    options.add("beta2", beta2, "decay rate of the moment", {.least = 0, .below = 1});
  }
};

/// w <- w - learning_rate * (sign(beta1 * m + (1 - beta1) * g) + weight_decay * w)
/// m <- beta2 * m + (1 - beta2) * g
///
/// Source: Chen et al., "Symbolic Discovery of Optimization Algorithms" (NeurIPS 2023),
/// algorithm 2.
template <class T>
struct Lion {
  using Options = LionOptions;
  static constexpr std::array kSlots{"moment"};
  Lion(const Options& options, std::int64_t)
      : rate(T(options.learning_rate)),
        beta1(T(options.beta1)),
        rest1(T(1 - options.beta1)),
        beta2(T(options.beta2)),
        rest2(T(1 - options.beta2)),
        decay(T(options.weight_decay)) {}
  void operator()(T g, T& w, T& m) const {
    const T mixed = beta1 * m + rest1 * g;
    const T sign = mixed > 0 ? T(1) : mixed < 0 ? T(-1) : mixed;  // mixed: zero or not a number
    w -= rate * (sign + decay * w);
    m = beta2 * m + rest2 * g;
  }
  T rate, beta1, rest1, beta2, rest2, decay;
};

}  // namespace

namespace optimizer {

void register_lion(Registry<OptimizerEntry>& registry) {
  registry.add("lion",
               ElementOptimizer<Lion>::entry("Lion, sign of a momentum (Chen et al., 2023)"));
}

}  // namespace optimizer
}  // namespace d5

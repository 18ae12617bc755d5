// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "d5/level2_training/optimization/element_optimizer.hpp"
#include "level2_training/optimization/declared_options.hpp"

namespace d5 {
namespace {

struct AdamaxOptions {
  double learning_rate = 2e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;

  void declare(OptionList& options) {
    detail::declare_rate_and_decay(options, *this);
    options.add("beta1", beta1, "decay rate of the first moment", {.least = 0, .below = 1});
    options.add("beta2", beta2, "decay rate of the infinity norm", {.least = 0, .below = 1});
    options.add("epsilon", epsilon, "added to the absolute value of the gradient", {.least = 0});
  }
};

/// In step t, counted from 1, with g <- g + weight_decay * w:
///
///     m <- beta1 * m + (1 - beta1) * g
///     u <- max(beta2 * u, |g| + epsilon)
///     w <- w - learning_rate / (1 - beta1^t) * m / u
///
/// Source: Kingma and Ba, "Adam: A Method for Stochastic Optimization" (ICLR 2015), algorithm 2;
/// epsilon is LibTorch's.
template <class T>
struct Adamax {
  using Options = AdamaxOptions;
  static constexpr std::array kSlots{"first_moment", "infinity_norm"};
  Adamax(const Options& options, std::int64_t step)
      : beta1(T(options.beta1)),
        rest1(T(1 - options.beta1)),
        beta2(T(options.beta2)),
        rate(T(options.learning_rate / (1 - std::pow(options.beta1, double(step))))),
        epsilon(T(options.epsilon)),
        decay(T(options.weight_decay)) {}
  void operator()(T g, T& w, T& m, T& u) const {
    const T slope = g + decay * w;
    m = beta1 * m + rest1 * slope;
    u = std::max(beta2 * u, std::abs(slope) + epsilon);
    w -= rate * m / u;
  }
  T beta1, rest1, beta2, rate, epsilon, decay;
};

}  // namespace

namespace optimizer {

void register_adamax(Registry<OptimizerEntry>& registry) {
  registry.add("adamax", ElementOptimizer<Adamax>::entry(
                             "AdaMax, Adam with the infinity norm (Kingma and Ba, 2015)"));
}

}  // namespace optimizer
}  // namespace d5

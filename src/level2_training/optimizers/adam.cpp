// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/level2_training/element_optimizer.hpp"
#include "d5/level2_training/optimizer_options.hpp"

namespace d5 {
namespace {

/// In step t, counted from 1:
///
///     g <- g + weight_decay * w
///     m <- beta1 * m + (1 - beta1) * g          m' = m / (1 - beta1^t)
///     v <- beta2 * v + (1 - beta2) * g^2        v' = v / (1 - beta2^t)
///     w <- w - learning_rate * m' / (sqrt(v') + epsilon)
///
/// Source: Kingma and Ba, "Adam: A Method for Stochastic Optimization" (ICLR 2015), algorithm 1.
template <class T>
struct Adam {
  using Options = AdamOptions;
  static constexpr std::array kSlots{"first_moment", "second_moment"};
  Adam(const Options& options, std::int64_t step)
      : beta1(T(options.beta1)),
        rest1(T(1 - options.beta1)),
        beta2(T(options.beta2)),
        rest2(T(1 - options.beta2)),
        rate(T(options.learning_rate / (1 - std::pow(options.beta1, double(step))))),
        root_correction(T(std::sqrt(1 - std::pow(options.beta2, double(step))))),
        epsilon(T(options.epsilon)),
        decay(T(options.weight_decay)) {}
  void operator()(T g, T& w, T& m, T& v) const {
    const T slope = g + decay * w;
    m = beta1 * m + rest1 * slope;
    v = beta2 * v + rest2 * slope * slope;
    w -= rate * m / (std::sqrt(v) / root_correction + epsilon);
  }
  T beta1, rest1, beta2, rest2, rate, root_correction, epsilon, decay;
};

}  // namespace

namespace optimizer {

void register_adam(Registry<OptimizerEntry>& registry) {
  registry.add("adam", ElementOptimizer<Adam>::entry("Adam (Kingma and Ba, 2015)"));
}

}  // namespace optimizer
}  // namespace d5

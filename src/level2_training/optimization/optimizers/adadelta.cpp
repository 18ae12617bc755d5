// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/level2_training/optimization/element_optimizer.hpp"

namespace d5 {
namespace {

struct AdadeltaOptions {
  double learning_rate = 1;
  double rho = 0.9;
  double epsilon = 1e-6;
  double weight_decay = 0;

  void declare(OptionList& options) {
    options.add("learning_rate", learning_rate, "factor on the rule's step", {.least = 0});
    options.add("weight_decay", weight_decay,
                "L2 weight decay: this times the parameter is added to its gradient", {.least = 0});
    options.add("rho", rho, "decay rate of the running averages", {.least = 0, .most = 1});
    options.add("epsilon", epsilon, "added to the averages under the square roots", {.least = 0});
  }
};

/// Update with g <- g + weight_decay * w:
///
///     s <- rho * s + (1 - rho) * g^2
///     d = sqrt(a + epsilon) / sqrt(s + epsilon) * g
///     a <- rho * a + (1 - rho) * d^2
///     w <- w - learning_rate * d
///
/// Source: Zeiler, "ADADELTA: An Adaptive Learning Rate Method" (2012), algorithm 1; the learning
/// rate is LibTorch's.
template <class T>
struct Adadelta {
  using Options = AdadeltaOptions;
  static constexpr std::array kSlots{"square_average", "step_average"};
  Adadelta(const Options& options, std::int64_t)
      : rate(T(options.learning_rate)),
        rho(T(options.rho)),
        rest(T(1 - options.rho)),
        epsilon(T(options.epsilon)),
        decay(T(options.weight_decay)) {}
  void operator()(T g, T& w, T& s, T& a) const {
    const T slope = g + decay * w;
    s = rho * s + rest * slope * slope;
    const T step = std::sqrt(a + epsilon) / std::sqrt(s + epsilon) * slope;
    a = rho * a + rest * step * step;
    w -= rate * step;
  }
  T rate, rho, rest, epsilon, decay;
};

}  // namespace

namespace optimizer {

void register_adadelta(Registry<OptimizerEntry>& registry) {
  registry.add("adadelta", ElementOptimizer<Adadelta>::entry("ADADELTA (Zeiler, 2012)"));
}

}  // namespace optimizer
}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/level2_training/optimization/element_optimizer.hpp"
#include "d5/level2_training/optimization/optimizer_options.hpp"

namespace d5 {
namespace {

/// In step t, counted from 1, with g <- g + weight_decay * w:
///
///     s <- s + g^2
///     w <- w - learning_rate / (1 + (t - 1) * learning_rate_decay) * g / (sqrt(s) + epsilon)
///
/// Source: Duchi, Hazan and Singer, "Adaptive Subgradient Methods for Online Learning and
/// Stochastic Optimization" (JMLR 2011), figure 1 with a diagonal matrix.
template <class T>
struct Adagrad {
  using Options = AdagradOptions;
  static constexpr std::array kSlots{"sum_of_squares"};
  Adagrad(const Options& options, std::int64_t step)
      : rate(T(options.learning_rate / (1 + double(step - 1) * options.learning_rate_decay))),
        start(T(step == 1 ? options.initial_accumulator_value : 0)),
        epsilon(T(options.epsilon)),
        decay(T(options.weight_decay)) {}
  void operator()(T g, T& w, T& s) const {
    const T slope = g + decay * w;
    s = s + start + slope * slope;
    w -= rate * slope / (std::sqrt(s) + epsilon);
  }
  T rate, start, epsilon, decay;
};

}  // namespace

namespace optimizer {

void register_adagrad(Registry<OptimizerEntry>& registry) {
  registry.add("adagrad", ElementOptimizer<Adagrad>::entry("AdaGrad (Duchi et al., 2011)"));
}

}  // namespace optimizer
}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/element_optimizer.hpp"
#include "d5/level2_training/optimization/optimizer_options.hpp"

namespace d5 {
namespace {

/// g <- g + weight_decay * w;  v <- momentum * v + (1 - dampening) * g;  w <- w - learning_rate * v
///
/// The first step has no dampening. Nesterov's form takes g + momentum * v in place of v.
///
/// Source: Polyak, "Some Methods of Speeding up the Convergence of Iteration Methods" (1964);
/// Nesterov's form after Sutskever et al., "On the Importance of Initialization and Momentum in
/// Deep Learning" (ICML 2013), as LibTorch's SGD defines it.
template <class T>
struct Momentum {
  using Options = MomentumOptions;
  static constexpr std::array kSlots{"velocity"};
  Momentum(const Options& options, std::int64_t step)
      : rate(T(options.learning_rate)),
        momentum(T(options.momentum)),
        fresh(T(step == 1 ? 1 : 1 - options.dampening)),
        decay(T(options.weight_decay)),
        nesterov(options.nesterov) {}
  void operator()(T g, T& w, T& v) const {
    const T slope = g + decay * w;
    v = momentum * v + fresh * slope;
    w -= rate * (nesterov ? slope + momentum * v : v);
  }
  T rate, momentum, fresh, decay;
  bool nesterov;
};

}  // namespace

namespace optimizer {

void register_momentum(Registry<OptimizerEntry>& registry) {
  registry.add("momentum",
               ElementOptimizer<Momentum>::entry("stochastic gradient descent with momentum "
                                                 "(Polyak, 1964), with nesterov=true Nesterov's"));
}

}  // namespace optimizer
}  // namespace d5

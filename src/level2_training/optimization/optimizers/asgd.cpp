// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "d5/level2_training/optimization/element_optimizer.hpp"

namespace d5 {
namespace {

struct AsgdOptions {
  double learning_rate = 0.01;
  double lambda = 1e-4;
  double alpha = 0.75;
  double t0 = 1e6;
  double weight_decay = 0;

  void declare(OptionList& options) {
    options.add("learning_rate", learning_rate, "initial step size along the gradient",
                {.least = 0});
    options.add("weight_decay", weight_decay,
                "L2 weight decay: this times the parameter is added to its gradient", {.least = 0});
    options.add("lambda", lambda,
                "decay term: each step of size eta shrinks the parameter by lambda * eta",
                {.least = 0});
    options.add("alpha", alpha, "exponent of the step size's decay", {.least = 0});
    options.add("t0", t0, "number of steps before averaging begins", {.least = 0});
  }
};

/// In step t, counted from 1, with g <- g + weight_decay * w:
///
///     eta = learning_rate / (1 + lambda * learning_rate * (t - 1))^alpha
///     w <- (1 - lambda * eta) * w - eta * g
///     a <- a + (w - a) / max(1, t - 1 - t0)
///
/// The average a is part of the state alone, as LibTorch's: tests see w.
///
/// Source: Polyak and Juditsky, "Acceleration of Stochastic Approximation by Averaging" (1992);
/// the steps' lengths after Bottou, as LibTorch's ASGD defines them.
template <class T>
struct Asgd {
  using Options = AsgdOptions;
  static constexpr std::array kSlots{"average"};
  Asgd(const Options& options, std::int64_t step) {
    const double before = double(step - 1);
    const double eta = options.learning_rate /
                       std::pow(1 + options.lambda * options.learning_rate * before, options.alpha);
    rate = T(eta);
    kept = T(1 - options.lambda * eta);
    share = T(1 / std::max(1.0, before - options.t0));
    decay = T(options.weight_decay);
  }
  void operator()(T g, T& w, T& average) const {
    const T slope = g + decay * w;
    w = kept * w - rate * slope;
    average = share == 1 ? w : average + share * (w - average);
  }
  T rate, kept, share, decay;
};

}  // namespace

namespace optimizer {

void register_asgd(Registry<OptimizerEntry>& registry) {
  registry.add("asgd", ElementOptimizer<Asgd>::entry(
                           "averaged stochastic gradient descent (Polyak and Juditsky, 1992)"));
}

}  // namespace optimizer
}  // namespace d5

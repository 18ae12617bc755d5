// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "d5/level2_training/optimization/element_optimizer.hpp"

namespace d5 {
namespace {

struct RpropOptions {
  double learning_rate = 0.01;
  double eta_minus = 0.5;
  double eta_plus = 1.2;
  double least_step_size = 1e-6;
  double most_step_size = 50;

  void declare(OptionList& options) {
    options.add("learning_rate", learning_rate, "initial step size of every element", {.least = 0});
    options.add("eta_minus", eta_minus, "factor on the step size after a change of sign",
                {.above = 0, .below = 1});
    options.add("eta_plus", eta_plus, "factor on the step size while the sign stays", {.above = 1});
    options.add("least_step_size", least_step_size, "minimum step size", {.least = 0});
    options.add("most_step_size", most_step_size, "maximum step size", {.least = 0});
  }
};

/// Each element has a step size d, the learning rate at first, and moves by the sign of its
/// gradient:
///
///     g * p > 0: d <- min(d * eta_plus, most_step_size)
///     g * p < 0: d <- max(d * eta_minus, least_step_size), g <- 0
///     w <- w - sign(g) * d;  p <- g
///
/// Source: Riedmiller and Braun, "A Direct Adaptive Method for Faster Backpropagation Learning: The
/// RPROP Algorithm" (ICNN 1993), without weight backtracking, as LibTorch has it.
template <class T>
struct Rprop {
  using Options = RpropOptions;
  static constexpr std::array kSlots{"previous_gradient", "step_size"};
  Rprop(const Options& options, std::int64_t step)
      : start(T(step == 1 ? options.learning_rate : 0)),
        minus(T(options.eta_minus)),
        plus(T(options.eta_plus)),
        least(T(options.least_step_size)),
        most(T(options.most_step_size)) {}
  void operator()(T g, T& w, T& p, T& d) const {
    const T product = g * p;
    const T factor = product > 0 ? plus : product < 0 ? minus : T(1);
    d = std::min(std::max((d + start) * factor, least), most);
    p = product < 0 ? T(0) : g;
    w -= p > 0 ? d : p < 0 ? -d : p;  // p: zero, or what is not a number
  }
  T start, minus, plus, least, most;
};

}  // namespace

namespace optimizer {

void register_rprop(Registry<OptimizerEntry>& registry) {
  registry.add("rprop", ElementOptimizer<Rprop>::entry(
                            "Rprop, resilient backpropagation (Riedmiller and Braun, 1993)"));
}

}  // namespace optimizer
}  // namespace d5

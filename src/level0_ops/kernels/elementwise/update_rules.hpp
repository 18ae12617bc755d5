// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"

// Update rules of Adam, Momentum and Adagrad of ai.onnx.preview.training for one element: `update`
// returns the new parameter and updates the states. N is double, or Dual for differentiation.
namespace d5::detail {

using std::sqrt;  // for double; Dual has its own

/// State: exponential averages of the gradient and of its square.
/// Source: Kingma and Ba, "Adam: A Method for Stochastic Optimization" (2015).
struct AdamRule {
  using View = onnx::nodes::training::Adam;
  static constexpr std::size_t kStates = 2;
  explicit AdamRule(const View& view)
      : alpha(view.alpha()),
        beta(view.beta()),
        epsilon(view.epsilon()),
        decay(view.norm_coefficient()),
        decay_after(view.norm_coefficient_post()) {}

  template <class N>
  N update(N rate, double count, N x, N gradient, N* state) const {
    gradient = gradient + decay * x;
    state[0] = alpha * state[0] + (1 - alpha) * gradient;
    state[1] = beta * state[1] + (1 - beta) * gradient * gradient;
    if (count > 0) {
      rate = rate * (sqrt(1 - std::pow(beta, count)) / (1 - std::pow(alpha, count)));
    }
    return (1 - decay_after) * (x - rate * state[0] / (sqrt(state[1]) + epsilon));
  }

  double flop() const { return 15; }  // an element

  double alpha, beta, epsilon, decay, decay_after;
};

/// State: the momentum.
struct MomentumRule {
  using View = onnx::nodes::training::Momentum;
  static constexpr std::size_t kStates = 1;
  explicit MomentumRule(const View& view)
      : alpha(view.alpha()),
        beta(view.beta()),
        decay(view.norm_coefficient()),
        nesterov(view.mode() == "nesterov") {
    const std::string mode = view.mode();
    if (mode != "nesterov" && mode != "standard") {
      throw ValueError(fmt::format("{}: mode is {}, expected standard or nesterov",
                                   onnx::describe(view.node()), printable(mode)));
    }
  }

  template <class N>
  N update(N rate, double count, N x, N gradient, N* state) const {
    gradient = gradient + decay * x;
    state[0] = alpha * state[0] + (count > 0 ? beta : 1) * gradient;
    return x - rate * (nesterov ? gradient + alpha * state[0] : state[0]);
  }

  double flop() const { return nesterov ? 9 : 7; }  // an element

  double alpha, beta, decay;
  bool nesterov;
};

/// State: the sum of the squared gradients.
/// Source: Duchi et al., "Adaptive Subgradient Methods for Online Learning and Stochastic
/// Optimization" (2011).
struct AdagradRule {
  using View = onnx::nodes::training::Adagrad;
  static constexpr std::size_t kStates = 1;
  explicit AdagradRule(const View& view)
      : rate_decay(view.decay_factor()), epsilon(view.epsilon()), decay(view.norm_coefficient()) {}

  template <class N>
  N update(N rate, double count, N x, N gradient, N* state) const {
    gradient = gradient + decay * x;
    state[0] = state[0] + gradient * gradient;
    return x - rate / (1 + count * rate_decay) * gradient / (sqrt(state[0]) + epsilon);
  }

  double flop() const { return 9; }  // an element

  double rate_decay, epsilon, decay;
};

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/element_optimizer.hpp"
#include "level2_training/optimization/declared_options.hpp"

namespace d5 {
namespace {

struct RmspropOptions {
  double learning_rate = 0.01;
  double alpha = 0.99;
  double epsilon = 1e-8;
  double weight_decay = 0;
  double momentum = 0;
  bool centered = false;

  void declare(OptionList& options) {
    detail::declare_rate_and_decay(options, *this);
    options.add("alpha", alpha, "decay rate of the running averages", {.least = 0, .most = 1});
    options.add("epsilon", epsilon, "added to the square root of the average", {.least = 0});
    options.add("momentum", momentum, "momentum factor: share of the velocity that is kept",
                {.least = 0});
    options.add("centered", centered,
                "centered RMSProp: divide by the standard deviation of gradients");
  }
};

/// Update with g <- g + weight_decay * w:
///
///     s <- alpha * s + (1 - alpha) * g^2
///     centered: a <- alpha * a + (1 - alpha) * g, and s - a^2 stands in place of s
///     v <- momentum * v + g / (sqrt(s) + epsilon)
///     w <- w - learning_rate * v
///
/// Source: Tieleman and Hinton, "Lecture 6.5: RMSProp" (2012); centered after Graves, "Generating
/// Sequences with Recurrent Neural Networks" (2013), equations 38 to 45, as LibTorch has them.
template <class T>
struct Formula {
  Formula(const RmspropOptions& options, std::int64_t)
      : rate(T(options.learning_rate)),
        alpha(T(options.alpha)),
        rest(T(1 - options.alpha)),
        epsilon(T(options.epsilon)),
        decay(T(options.weight_decay)),
        momentum(T(options.momentum)),
        centered(options.centered) {}
  T slope(T g, T w) const { return g + decay * w; }
  T spread(T g, T& s) const { return s = alpha * s + rest * g * g; }
  T spread(T g, T& s, T& a) const {
    a = alpha * a + rest * g;
    return centered ? spread(g, s) - a * a : spread(g, s);
  }
  T quotient(T g, T spread) const { return g / (std::sqrt(spread) + epsilon); }
  T rate, alpha, rest, epsilon, decay, momentum;
  bool centered;
};

/// A velocity cannot start later, as there is no slot for it.
void expect_no_momentum(const RmspropOptions& options) {
  if (options.momentum == 0) return;
  throw ValueError(
      "optimizer rmsprop: momentum became other than 0, but it was made without; make "
      "it with a momentum");
}

template <class T>
struct Plain : Formula<T> {
  using Options = RmspropOptions;
  static constexpr std::array kSlots{"square_average"};
  Plain(const Options& options, std::int64_t step) : Formula<T>(options, step) {
    expect_no_momentum(options);
  }
  void operator()(T g, T& w, T& s) const {
    const T slope = this->slope(g, w);
    w -= this->rate * this->quotient(slope, this->spread(slope, s));
  }
};

template <class T>
struct Centered : Formula<T> {
  using Options = RmspropOptions;
  static constexpr std::array kSlots{"square_average", "mean"};
  Centered(const Options& options, std::int64_t step) : Formula<T>(options, step) {
    expect_no_momentum(options);
  }
  void operator()(T g, T& w, T& s, T& a) const {
    const T slope = this->slope(g, w);
    w -= this->rate * this->quotient(slope, this->spread(slope, s, a));
  }
};

template <class T>
struct WithMomentum : Formula<T> {
  using Options = RmspropOptions;
  static constexpr std::array kSlots{"square_average", "velocity"};
  using Formula<T>::Formula;
  void operator()(T g, T& w, T& s, T& v) const {
    const T slope = this->slope(g, w);
    v = this->momentum * v + this->quotient(slope, this->spread(slope, s));
    w -= this->rate * v;
  }
};

template <class T>
struct CenteredWithMomentum : Formula<T> {
  using Options = RmspropOptions;
  static constexpr std::array kSlots{"square_average", "mean", "velocity"};
  using Formula<T>::Formula;
  void operator()(T g, T& w, T& s, T& a, T& v) const {
    const T slope = this->slope(g, w);
    v = this->momentum * v + this->quotient(slope, this->spread(slope, s, a));
    w -= this->rate * v;
  }
};

std::shared_ptr<Optimizer> make(std::shared_ptr<GraphExecutor> executor, std::string loss,
                                const GroupedOptions<RmspropOptions>& options) {
  bool centered = false, momentum = false;
  for (const RmspropOptions& rule : options.rules()) {
    centered = centered || rule.centered;
    momentum = momentum || rule.momentum != 0;
  }
  const auto with = [&]<template <class> class Rule>() -> std::shared_ptr<Optimizer> {
    return std::make_shared<ElementOptimizer<Rule>>(std::move(executor), std::move(loss), options);
  };
  if (momentum) {
    return centered ? with.template operator()<CenteredWithMomentum>()
                    : with.template operator()<WithMomentum>();
  }
  return centered ? with.template operator()<Centered>() : with.template operator()<Plain>();
}

}  // namespace

namespace optimizer {

void register_rmsprop(Registry<OptimizerEntry>& registry) {
  registry.add(
      "rmsprop",
      OptimizerEntry::with<GroupedOptions<RmspropOptions>>(
          "RMSProp (Tieleman and Hinton, 2012), with centered=true Graves's variant", make));
}

}  // namespace optimizer
}  // namespace d5

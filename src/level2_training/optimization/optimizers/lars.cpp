// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/core/numbers/independent_loop.hpp"
#include "d5/level2_training/optimization/tensor_optimizer.hpp"
#include "level2_training/optimization/shared/block_sums.hpp"
#include "level2_training/optimization/shared/sweep.hpp"

namespace d5 {
namespace {

struct LarsOptions {
  double learning_rate = 0.1;
  double momentum = 0.9;
  double trust_coefficient = 1e-3;
  double weight_decay = 0;

  void declare(OptionList& options) {
    options.add("learning_rate", learning_rate, "factor on the layer-wise rate", {.least = 0});
    options.add("weight_decay", weight_decay,
                "L2 weight decay: this times the parameter is added to its gradient", {.least = 0});
    options.add("momentum", momentum, "momentum factor: share of the velocity that is kept",
                {.least = 0});
    options.add(
        "trust_coefficient", trust_coefficient,
        "trust coefficient: relative change of a tensor's norm in a step with learning_rate 1",
        {.above = 0});
  }
};

/// Update of each tensor, with Euclidean norms:
///
///     r = trust_coefficient * |w| / (|g| + weight_decay * |w|), or 1 where a norm is 0
///     v <- momentum * v + learning_rate * r * (g + weight_decay * w)
///     w <- w - v
///
/// Source: You, Gitman and Ginsburg, "Large Batch Training of Convolutional Networks" (2017),
/// algorithm 1.
template <class T>
struct Lars {
  using Options = LarsOptions;
  static constexpr std::array kSlots{"velocity"};
  Lars(const Options& options, std::int64_t) : options_(options) {}

  void operator()(const TensorUpdate<T>& parameter) const {
    const T* g = parameter.gradient.data();
    T *w = parameter.value.data(), *v = parameter.slots[0].data();
    const auto [w2, g2] =
        detail::block_sums<2>(parameter.elements(), [&](std::int64_t begin, std::int64_t end) {
          return std::array{detail::sum_of_squares(w + begin, end - begin),
                            detail::sum_of_squares(g + begin, end - begin)};
        });
    const double size = std::sqrt(w2), slope = std::sqrt(g2), weight_decay = options_.weight_decay;
    const double trust = size == 0 || slope == 0
                             ? 1
                             : options_.trust_coefficient * size / (slope + weight_decay * size);
    const T rate = T(options_.learning_rate * trust), momentum = T(options_.momentum);
    const T decay = T(weight_decay);
    detail::sweep(parameter.elements(), [&](std::int64_t begin, std::int64_t end) {
      D5_INDEPENDENT_LOOP
      for (std::int64_t i = begin; i < end; ++i) {
        v[i] = momentum * v[i] + rate * (g[i] + decay * w[i]);
        w[i] -= v[i];
      }
    });
  }

 private:
  Options options_;
};

}  // namespace

namespace optimizer {

void register_lars(Registry<OptimizerEntry>& registry) {
  registry.add("lars", TensorOptimizer<Lars>::entry(
                           "LARS, layer-wise adaptive rate scaling (You et al., 2017)"));
}

}  // namespace optimizer
}  // namespace d5

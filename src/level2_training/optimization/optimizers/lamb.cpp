// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/core/numbers/independent_loop.hpp"
#include "d5/level2_training/optimization/tensor_optimizer.hpp"
#include "level2_training/optimization/declared_options.hpp"
#include "level2_training/optimization/shared/block_sums.hpp"
#include "level2_training/optimization/shared/sweep.hpp"

namespace d5 {
namespace {

struct LambOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-6;
  double weight_decay = 0.01;

  void declare(OptionList& options) {
    options.add("learning_rate", learning_rate, "relative change of a tensor's norm in a step",
                {.least = 0});
    options.add("weight_decay", weight_decay,
                "weight decay: this times the parameter is added to Adam's step", {.least = 0});
    detail::declare_moments(options, *this);
  }
};

/// Update of each tensor, with Adam's corrected moments m' and v':
///
///     d = m' / (sqrt(v') + epsilon) + weight_decay * w
///     w <- w - learning_rate * |w| / |d| * d, the quotient 1 where a norm is 0
///
/// Source: You et al., "Large Batch Optimization for Deep Learning: Training BERT in 76 Minutes"
/// (ICLR 2020), algorithm 2, with the identity for phi.
template <class T>
struct Lamb {
  using Options = LambOptions;
  static constexpr std::array kSlots{"first_moment", "second_moment"};
  Lamb(const Options& options, std::int64_t step)
      : rate(options.learning_rate),
        beta1(T(options.beta1)),
        rest1(T(1 - options.beta1)),
        beta2(T(options.beta2)),
        rest2(T(1 - options.beta2)),
        correction(T(1 / (1 - std::pow(options.beta1, double(step))))),
        root_correction(T(std::sqrt(1 - std::pow(options.beta2, double(step))))),
        epsilon(T(options.epsilon)),
        decay(T(options.weight_decay)) {}

  void operator()(const TensorUpdate<T>& parameter) const {
    T *w = parameter.value.data(), *d = parameter.scratch.data();
    const auto [w2, d2] =
        detail::block_sums<2>(parameter.elements(), [&](std::int64_t begin, std::int64_t end) {
          direct(parameter, begin, end);
          return std::array{detail::sum_of_squares(w + begin, end - begin),
                            detail::sum_of_squares(d + begin, end - begin)};
        });
    const double trust = w2 == 0 || d2 == 0 ? 1 : std::sqrt(w2) / std::sqrt(d2);
    const T length = T(rate * trust);
    detail::sweep(parameter.elements(), [&](std::int64_t begin, std::int64_t end) {
      D5_INDEPENDENT_LOOP
      for (std::int64_t i = begin; i < end; ++i) w[i] -= length * d[i];
    });
  }

 private:
  /// Updates the moments of elements, and writes d to the scratch memory.
  void direct(const TensorUpdate<T>& parameter, std::int64_t begin, std::int64_t end) const {
    const T *g = parameter.gradient.data(), *w = parameter.value.data();
    T *m = parameter.slots[0].data(), *v = parameter.slots[1].data(), *d = parameter.scratch.data();
    D5_INDEPENDENT_LOOP
    for (std::int64_t i = begin; i < end; ++i) {
      m[i] = beta1 * m[i] + rest1 * g[i];
      v[i] = beta2 * v[i] + rest2 * g[i] * g[i];
      d[i] = correction * m[i] / (std::sqrt(v[i]) / root_correction + epsilon) + decay * w[i];
    }
  }

  double rate;
  T beta1, rest1, beta2, rest2, correction, root_correction, epsilon, decay;
};

}  // namespace

namespace optimizer {

void register_lamb(Registry<OptimizerEntry>& registry) {
  registry.add("lamb", TensorOptimizer<Lamb>::entry(
                           "LAMB, layer-wise adaptive Adam for large batches (You et al., 2020)"));
}

}  // namespace optimizer
}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/level2_training/optimization/element_optimizer.hpp"
#include "level2_training/optimization/declared_options.hpp"
#include "level2_training/optimization/shared/adam_step.hpp"

namespace d5 {
namespace {

struct RadamOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  bool decoupled_weight_decay = false;

  void declare(OptionList& options) {
    detail::declare_rate_and_decay(options, *this);
    detail::declare_moments(options, *this);
    options.add("decoupled_weight_decay", decoupled_weight_decay,
                "decoupled weight decay: shrink the parameter by learning_rate * weight_decay");
  }
};

/// Adam with a rectified step; it uses the plain momentum while the variance of the second moment
/// is unbounded. With Adam's m' and v' in step t, from 1:
///
///     R = 2 / (1 - beta2) - 1           r = R - 2 t beta2^t / (1 - beta2^t)
///     r > 5: w <- w - learning_rate * m' / (sqrt(v') + epsilon')
///                     * sqrt((r - 4) (r - 2) R / ((R - 4) (R - 2) r))
///     else:  w <- w - learning_rate * m'
///
/// where epsilon is added to the uncorrected root.
///
/// Source: Liu et al., "On the Variance of the Adaptive Learning Rate and Beyond" (ICLR 2020),
/// algorithm 2; epsilon's place and the bound 5 are LibTorch's.
template <class T>
struct Radam {
  using Options = RadamOptions;
  static constexpr std::array kSlots{"first_moment", "second_moment"};
  Radam(const Options& options, std::int64_t step)
      : moments(options), decay(options), epsilon(T(options.epsilon)) {
    const double power2 = std::pow(options.beta2, double(step));
    const double most = 2 / (1 - options.beta2) - 1;
    const double length = most - 2 * double(step) * power2 / (1 - power2);
    rectified = length > 5;
    const double plain = options.learning_rate / (1 - std::pow(options.beta1, double(step)));
    rate = T(rectified ? plain * std::sqrt((1 - power2) * (length - 4) * (length - 2) * most /
                                           ((most - 4) * (most - 2) * length))
                       : plain);
  }
  void operator()(T g, T& w, T& m, T& v) const {
    const T slope = g + decay.added * w;
    moments(slope, m, v);
    w = decay.kept * w - rate * m / (rectified ? std::sqrt(v) + epsilon : T(1));
  }
  detail::Moments<T> moments;
  detail::EitherDecay<T> decay;
  T epsilon, rate;
  bool rectified;
};

}  // namespace

namespace optimizer {

void register_radam(Registry<OptimizerEntry>& registry) {
  registry.add("radam", ElementOptimizer<Radam>::entry("RAdam, rectified Adam (Liu et al., 2020)"));
}

}  // namespace optimizer
}  // namespace d5

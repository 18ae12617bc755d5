// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/level2_training/optimization/element_optimizer.hpp"
#include "level2_training/optimization/declared_options.hpp"
#include "level2_training/optimization/shared/adam_step.hpp"

namespace d5 {
namespace {

struct NadamOptions {
  double learning_rate = 2e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  double momentum_decay = 4e-3;
  bool decoupled_weight_decay = false;

  void declare(OptionList& options) {
    detail::declare_rate_and_decay(options, *this);
    detail::declare_moments(options, *this);
    options.add("momentum_decay", momentum_decay, "rate at which the momentum grows to beta1",
                {.least = 0});
    options.add("decoupled_weight_decay", decoupled_weight_decay,
                "decoupled weight decay: shrink the parameter by learning_rate * weight_decay");
  }
};

/// Adam with Nesterov's momentum, which grows from half of beta1 to beta1. In step t, from 1:
///
///     mu(t) = beta1 * (1 - 0.96^(t * momentum_decay) / 2)     p(t) = mu(1) * ... * mu(t)
///     m <- beta1 * m + (1 - beta1) * g
///     v <- beta2 * v + (1 - beta2) * g^2                      v' = v / (1 - beta2^t)
///     m' = mu(t+1) * m / (1 - p(t+1)) + (1 - mu(t)) * g / (1 - p(t))
///     w <- w - learning_rate * m' / (sqrt(v') + epsilon)
///
/// Source: Dozat, "Incorporating Nesterov Momentum into Adam" (ICLR 2016 workshop), with LibTorch's
/// moment m.
template <class T>
struct Nadam {
  using Options = NadamOptions;
  static constexpr std::array kSlots{"first_moment", "second_moment"};
  static constexpr std::array kNumbers{"momentum_product"};

  static double momentum(const Options& options, std::int64_t step) {
    return options.beta1 * (1 - 0.5 * std::pow(0.96, double(step) * options.momentum_decay));
  }
  static void advance(const Options& options, std::int64_t step, std::array<double, 1>& numbers) {
    numbers[0] = (step == 1 ? 1 : numbers[0]) * momentum(options, step);
  }
  Nadam(const Options& options, std::int64_t step, const std::array<double, 1>& numbers)
      : moments(options),
        decay(options),
        root_correction(T(std::sqrt(1 - std::pow(options.beta2, double(step))))),
        epsilon(T(options.epsilon)) {
    const double now = momentum(options, step), next = momentum(options, step + 1);
    slope_rate = T(options.learning_rate * (1 - now) / (1 - numbers[0]));
    moment_rate = T(options.learning_rate * next / (1 - numbers[0] * next));
  }
  void operator()(T g, T& w, T& m, T& v) const {
    const T slope = g + decay.added * w;
    moments(slope, m, v);
    w = decay.kept * w -
        (slope_rate * slope + moment_rate * m) / (std::sqrt(v) / root_correction + epsilon);
  }
  detail::Moments<T> moments;
  detail::EitherDecay<T> decay;
  T root_correction, epsilon, slope_rate, moment_rate;
};

}  // namespace

namespace optimizer {

void register_nadam(Registry<OptimizerEntry>& registry) {
  registry.add("nadam",
               ElementOptimizer<Nadam>::entry("NAdam, Adam with Nesterov momentum (Dozat, 2016)"));
}

}  // namespace optimizer
}  // namespace d5

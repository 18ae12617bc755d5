// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/level2_training/optimization/element_optimizer.hpp"
#include "level2_training/optimization/shared/schedule_free.hpp"

namespace d5 {
namespace {

struct ScheduleFreeAdamWOptions {
  double learning_rate = 2.5e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  detail::ScheduleFreeOptions average = {};

  void declare(OptionList& options) {
    options.add("learning_rate", learning_rate, "step size along the gradient", {.least = 0});
    options.add(
        "weight_decay", weight_decay,
        "decoupled weight decay: each step shrinks the parameter by learning_rate times this",
        {.least = 0});
    options.add("beta1", beta1, "weight of the average at the point where gradients are evaluated",
                {.above = 0, .below = 1});
    options.add("beta2", beta2, "decay rate of the second moment", {.least = 0, .below = 1});
    options.add("epsilon", epsilon, "added to the square root of the second moment", {.least = 0});
    average.declare(options);
  }
};

/// v <- beta2 * v + (1 - beta2) * g^2, v' = v / (1 - beta2^t); ScheduleFree's step is
/// g / (sqrt(v') + epsilon) + weight_decay * y, its beta is beta1.
template <class T>
struct ScheduleFreeAdamW {
  using Options = ScheduleFreeAdamWOptions;
  using Numbers = typename detail::ScheduleFree<T>::Numbers;
  static constexpr std::array kSlots{"z", "second_moment"};
  static constexpr auto kNumbers = detail::ScheduleFree<T>::kNumbers;
  static void advance(const Options& options, std::int64_t step, Numbers& numbers) {
    detail::ScheduleFree<T>::advance(options, step, numbers);
  }
  ScheduleFreeAdamW(const Options& options, std::int64_t step, const Numbers& numbers)
      : average(options, options.beta1, step, numbers),
        beta2(T(options.beta2)),
        rest2(T(1 - options.beta2)),
        root_correction(T(std::sqrt(1 - std::pow(options.beta2, double(step))))),
        epsilon(T(options.epsilon)),
        decay(T(options.weight_decay)) {}
  void operator()(T g, T& y, T& z, T& v) const {
    v = beta2 * v + rest2 * g * g;
    average(g / (std::sqrt(v) / root_correction + epsilon) + decay * y, y, z);
  }
  [[nodiscard]] T seen_by_tests(T y, T z, T) const { return average.seen(y, z); }
  detail::ScheduleFree<T> average;
  T beta2, rest2, root_correction, epsilon, decay;
};

}  // namespace

namespace optimizer {

void register_schedule_free_adamw(Registry<OptimizerEntry>& registry) {
  registry.add("schedule_free_adamw", ElementOptimizer<ScheduleFreeAdamW>::entry(
                                          "schedule-free AdamW (Defazio et al., 2024)"));
}

}  // namespace optimizer
}  // namespace d5

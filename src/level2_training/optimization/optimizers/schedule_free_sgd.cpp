// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/element_optimizer.hpp"
#include "level2_training/optimization/declared_options.hpp"
#include "level2_training/optimization/shared/schedule_free.hpp"

namespace d5 {
namespace {

struct ScheduleFreeSgdOptions {
  double learning_rate = 1;
  double momentum = 0.9;
  double weight_decay = 0;
  detail::ScheduleFreeOptions average = {};

  void declare(OptionList& options) {
    detail::declare_rate_and_decay(options, *this);
    options.add("momentum", momentum,
                "weight of the average at the point where gradients are evaluated",
                {.above = 0, .below = 1});
    average.declare(options);
  }
};

/// ScheduleFree's step is g + weight_decay * y; beta is the momentum.
template <class T>
struct ScheduleFreeSgd {
  using Options = ScheduleFreeSgdOptions;
  using Numbers = typename detail::ScheduleFree<T>::Numbers;
  static constexpr std::array kSlots{"z"};
  static constexpr auto kNumbers = detail::ScheduleFree<T>::kNumbers;
  static void advance(const Options& options, std::int64_t step, Numbers& numbers) {
    detail::ScheduleFree<T>::advance(options, step, numbers);
  }
  ScheduleFreeSgd(const Options& options, std::int64_t step, const Numbers& numbers)
      : average(options, options.momentum, step, numbers), decay(T(options.weight_decay)) {}
  void operator()(T g, T& y, T& z) const { average(g + decay * y, y, z); }
  [[nodiscard]] T seen_by_tests(T y, T z) const { return average.seen(y, z); }
  detail::ScheduleFree<T> average;
  T decay;
};

}  // namespace

namespace optimizer {

void register_schedule_free_sgd(Registry<OptimizerEntry>& registry) {
  registry.add("schedule_free_sgd",
               ElementOptimizer<ScheduleFreeSgd>::entry(
                   "schedule-free stochastic gradient descent (Defazio et al., 2024)"));
}

}  // namespace optimizer
}  // namespace d5

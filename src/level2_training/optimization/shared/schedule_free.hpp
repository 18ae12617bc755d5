// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "d5/core/entries/option.hpp"

namespace d5::detail {

/// Options of schedule-free rules.
struct ScheduleFreeOptions {
  double warmup_steps = 0;
  double step_power = 0;
  double rate_power = 2;

  void declare(OptionList& options) {
    options.add("warmup_steps", warmup_steps, "number of warmup steps of the learning rate",
                {.least = 0});
    options.add("step_power", step_power,
                "exponent of the step number in a step's weight in the average", {.least = 0});
    options.add("rate_power", rate_power,
                "exponent of the largest learning rate in a step's weight in the average",
                {.least = 0});
  }
};

/// An average that replaces a schedule. In step t, counted from 1, with the gradient g at y (the
/// parameter), the rule's step s for g, and z = y at first:
///
///     rate = learning_rate * min(1, t / warmup_steps)
///     c = p(t) / (p(1) + ... + p(t))     p(t) = t^step_power * max(rate so far)^rate_power
///     z <- z - rate * s
///     x <- (1 - c) x + c z
///     y <- (1 - beta) z + beta x
///
/// Test runs use x. It is not stored: x = y / beta - (1 - beta) / beta z.
///
/// Source: Defazio et al., "The Road Less Scheduled" (NeurIPS 2024), algorithm 1 and section 4.4;
/// powers as in the authors' program.
template <class T>
struct ScheduleFree {
  static constexpr std::array kNumbers{"share_sum", "largest_rate"};
  using Numbers = std::array<double, 2>;

  template <class Options>
  static double rate_of(const Options& options, std::int64_t step) {
    const double steps = options.average.warmup_steps;
    return options.learning_rate * (steps > 0 ? std::min(1.0, double(step) / steps) : 1.0);
  }
  template <class Options>
  static double share_of(const Options& options, std::int64_t step, double largest_rate) {
    return std::pow(double(step), options.average.step_power) *
           std::pow(largest_rate, options.average.rate_power);
  }
  template <class Options>
  static void advance(const Options& options, std::int64_t step, Numbers& numbers) {
    if (step == 1) numbers = {};
    numbers[1] = std::max(numbers[1], rate_of(options, step));
    numbers[0] += share_of(options, step, numbers[1]);
  }

  template <class Options>
  ScheduleFree(const Options& options, double beta, std::int64_t step, const Numbers& numbers)
      : rate(T(rate_of(options, step))), is_first(step == 1), back(T(1 - 1 / beta)) {
    // A rate of zero has no weight.
    const double c = numbers[0] > 0 ? share_of(options, step, numbers[1]) / numbers[0] : 0;
    share = T(c);
    slope_rate = T(rate_of(options, step) * (1 - beta * (1 - c)));
  }
  void operator()(T s, T& y, T& z) const {
    const T old = is_first ? y : z;
    y = y + share * (old - y) - slope_rate * s;
    z = old - rate * s;
  }
  [[nodiscard]] T seen(T y, T z) const { return y + back * (z - y); }

  T rate, share, slope_rate;
  bool is_first;
  T back;
};

}  // namespace d5::detail

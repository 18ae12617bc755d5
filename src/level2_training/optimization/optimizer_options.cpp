// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/optimizer_options.hpp"

#include "level2_training/optimization/declared_options.hpp"

namespace d5 {
namespace {

constexpr const char* kAmsgrad = "divides by the largest second moment so far";

}  // namespace

void SgdOptions::declare(OptionList& options) { detail::declare_rate_and_decay(options, *this); }

void MomentumOptions::declare(OptionList& options) {
  detail::declare_rate_and_decay(options, *this);
  options.add("momentum", momentum, "share of the velocity that stays", {.least = 0});
  options.add("dampening", dampening, "share of a gradient that the velocity does not take",
              {.least = 0, .most = 1});
  options.add("nesterov", nesterov, "looks ahead: uses g + momentum * v instead of v");
}

void AdamOptions::declare(OptionList& options) {
  detail::declare_rate_and_decay(options, *this);
  detail::declare_moments(options, *this);
  options.add("amsgrad", amsgrad, kAmsgrad);
}

void AdamWOptions::declare(OptionList& options) {
  options.add("learning_rate", learning_rate, "step along the gradient", {.least = 0});
  options.add("weight_decay", weight_decay,
              "times learning_rate, share of the parameter that a step takes away", {.least = 0});
  detail::declare_moments(options, *this);
  options.add("amsgrad", amsgrad, kAmsgrad);
}

void AdagradOptions::declare(OptionList& options) {
  detail::declare_rate_and_decay(options, *this);
  options.add("learning_rate_decay", learning_rate_decay,
              "growth of the learning rate's divisor with each step", {.least = 0});
  options.add("initial_accumulator_value", initial_accumulator_value,
              "sum of squares before the first step", {.least = 0});
  options.add("epsilon", epsilon, "added to the root of the sum of squares", {.least = 0});
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/optimizer_options.hpp"

#include "level2_training/optimization/declared_options.hpp"

namespace d5 {
namespace {

constexpr const char* kAmsgrad = "AMSGrad: divide by the largest second moment so far";

}  // namespace

void SgdOptions::declare(OptionList& options) { detail::declare_rate_and_decay(options, *this); }

void MomentumOptions::declare(OptionList& options) {
  detail::declare_rate_and_decay(options, *this);
  options.add("momentum", momentum, "momentum factor: share of the velocity that is kept",
              {.least = 0});
  options.add("dampening", dampening,
              "dampening: share of a gradient that is left out of the velocity",
              {.least = 0, .most = 1});
  options.add("nesterov", nesterov, "Nesterov momentum: use g + momentum * v instead of v");
}

void AdamOptions::declare(OptionList& options) {
  detail::declare_rate_and_decay(options, *this);
  detail::declare_moments(options, *this);
  options.add("amsgrad", amsgrad, kAmsgrad);
}

void AdamWOptions::declare(OptionList& options) {
  options.add("learning_rate", learning_rate, "step size along the gradient", {.least = 0});
  options.add("weight_decay", weight_decay,
              "decoupled weight decay: each step shrinks the parameter by learning_rate times this",
              {.least = 0});
  detail::declare_moments(options, *this);
  options.add("amsgrad", amsgrad, kAmsgrad);
}

void AdagradOptions::declare(OptionList& options) {
  detail::declare_rate_and_decay(options, *this);
  options.add("learning_rate_decay", learning_rate_decay,
              "decay of the learning rate: its divisor grows by this with each step", {.least = 0});
  options.add("initial_accumulator_value", initial_accumulator_value, "initial sum of squares",
              {.least = 0});
  options.add("epsilon", epsilon, "added to the square root of the sum of squares", {.least = 0});
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimizer_options.hpp"

namespace d5 {
namespace {

void declare_rate_and_decay(OptionList& options, double& learning_rate, double& weight_decay) {
  options.add("learning_rate", learning_rate, "step along the gradient", {.least = 0});
  options.add("weight_decay", weight_decay, "times the parameter, added to its gradient",
              {.least = 0});
}

template <class Options>
void declare_moments(OptionList& options, Options& of) {
  options.add("beta1", of.beta1, "share of the first moment that stays", {.least = 0, .below = 1});
  options.add("beta2", of.beta2, "share of the second moment that stays", {.least = 0, .below = 1});
  options.add("epsilon", of.epsilon, "added to the root of the second moment", {.least = 0});
  options.add("amsgrad", of.amsgrad, "divides by the largest second moment so far");
}

}  // namespace

void SgdOptions::declare(OptionList& options) {
  declare_rate_and_decay(options, learning_rate, weight_decay);
}

void MomentumOptions::declare(OptionList& options) {
  declare_rate_and_decay(options, learning_rate, weight_decay);
  options.add("momentum", momentum, "share of the velocity that stays", {.least = 0});
  options.add("dampening", dampening, "share of a gradient that the velocity does not take",
              {.least = 0, .most = 1});
  options.add("nesterov", nesterov, "looks ahead: uses g + momentum * v instead of v");
}

void AdamOptions::declare(OptionList& options) {
  declare_rate_and_decay(options, learning_rate, weight_decay);
  declare_moments(options, *this);
}

void AdamWOptions::declare(OptionList& options) {
  options.add("learning_rate", learning_rate, "step along the gradient", {.least = 0});
  options.add("weight_decay", weight_decay,
              "times learning_rate, share of the parameter that a step takes away", {.least = 0});
  declare_moments(options, *this);
}

void AdagradOptions::declare(OptionList& options) {
  declare_rate_and_decay(options, learning_rate, weight_decay);
  options.add("learning_rate_decay", learning_rate_decay,
              "growth of the learning rate's divisor with each step", {.least = 0});
  options.add("initial_accumulator_value", initial_accumulator_value,
              "sum of squares before the first step", {.least = 0});
  options.add("epsilon", epsilon, "added to the root of the sum of squares", {.least = 0});
}

}  // namespace d5

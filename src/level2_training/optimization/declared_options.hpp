// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/entries/option.hpp"

/// Options that many optimizers share: the same names, ranges and help in each.
namespace d5::detail {

template <class Options>
void declare_rate_and_decay(OptionList& options, Options& of) {
  options.add("learning_rate", of.learning_rate, "step size along the gradient", {.least = 0});
  options.add("weight_decay", of.weight_decay,
              "L2 weight decay: this times the parameter is added to its gradient", {.least = 0});
}

template <class Options>
void declare_moments(OptionList& options, Options& of) {
  options.add("beta1", of.beta1, "decay rate of the first moment", {.least = 0, .below = 1});
  options.add("beta2", of.beta2, "decay rate of the second moment", {.least = 0, .below = 1});
  options.add("epsilon", of.epsilon, "added to the square root of the second moment", {.least = 0});
}

}  // namespace d5::detail

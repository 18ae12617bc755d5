// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/entries/option.hpp"

namespace d5 {

// Options of optimizers that frameworks also have, with the same names, defaults and meanings in
// each.

struct SgdOptions {
  double learning_rate = 0.01;
  double weight_decay = 0;

  void declare(OptionList& options);
};

struct MomentumOptions {
  double learning_rate = 0.01;
  double momentum = 0.9;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;

  void declare(OptionList& options);
};

struct AdamOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  bool amsgrad = false;

  void declare(OptionList& options);
};

struct AdamWOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;
  bool amsgrad = false;

  void declare(OptionList& options);
};

struct AdagradOptions {
  double learning_rate = 0.01;
  double learning_rate_decay = 0;
  double initial_accumulator_value = 0;
  double epsilon = 1e-10;
  double weight_decay = 0;

  void declare(OptionList& options);
};

}  // namespace d5

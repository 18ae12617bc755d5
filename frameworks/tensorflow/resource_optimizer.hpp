// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level2_training/optimization/optimizer.hpp"

namespace d5::tensorflow {

/// Registers TensorFlow's own sgd, momentum and adam, which are operations on variables. Parameters
/// are d5's: each step copies them there and back; moments stay in variables.
void register_optimizers(NativeOptimizers& registry);

}  // namespace d5::tensorflow

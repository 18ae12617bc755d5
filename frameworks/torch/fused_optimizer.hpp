// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level2_training/optimization/optimizer.hpp"

namespace d5::torch {

/// Registers torch's own sgd, momentum, adam, adamw and adagrad: its fused kernels on d5's
/// parameters and gradients.
void register_optimizers(NativeOptimizers& registry);

}  // namespace d5::torch

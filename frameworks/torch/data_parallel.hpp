// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"

namespace d5::torch {

/// "ddp".
void register_schemes(NativeSchemes& registry);

}  // namespace d5::torch

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/buildings.hpp"  // prediction, evaluation, serving: those that were built
#include "d5/core/core.hpp"
#include "d5/level0_ops/level0_ops.hpp"
#include "d5/level1_network/level1_network.hpp"
#include "d5/level2_training/level2_training.hpp"
#include "d5/level3_distributed/level3_distributed.hpp"
#include "d5/onnx/onnx.hpp"
#include "d5/version.hpp"

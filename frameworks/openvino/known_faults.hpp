// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "d5/level0_ops/operator/model_faults.hpp"

namespace d5::openvino {

/// What OpenVINO compiles without complaint, and computes otherwise than ONNX says.
[[nodiscard]] std::span<const ModelFault> known_faults();

}  // namespace d5::openvino

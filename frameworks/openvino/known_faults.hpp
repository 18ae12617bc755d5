// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "d5/level0_ops/operator/model_faults.hpp"

namespace d5::openvino {

/// Faults of OpenVINO: nodes that it compiles without an error but computes differently from ONNX.
[[nodiscard]] std::span<const ModelFault> known_faults();

}  // namespace d5::openvino

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "d5/level0_ops/operator/model_faults.hpp"

namespace d5::onnxruntime {

/// Faults of ONNX Runtime: nodes that it compiles without an error but computes differently from
/// ONNX.
[[nodiscard]] std::span<const ModelFault> known_faults();

/// Faults of whole networks at `Optimization::all`. Throws: Unsupported.
void expect_no_fault_of_last_level(const onnx::Model& model);

}  // namespace d5::onnxruntime

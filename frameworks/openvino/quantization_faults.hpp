// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/onnx/model.hpp"

namespace d5::openvino {

/// Faults of OpenVINO, up to the newest version 2026.4, in adjacent quantized nodes:
///
/// - a QuantizeLinear of 16 bits directly followed by a DequantizeLinear: it removes the pair, so
/// that
///   nothing is rounded or clamped;
/// - a Conv with quantized weights, fed by a Concat quantized to int8: it misinterprets the
/// integers.
///   uint8, groups and float weights are correct.
///
/// Throws: Unsupported with the first such node.
void expect_no_quantization_fault(const onnx::Model& model);

}  // namespace d5::openvino

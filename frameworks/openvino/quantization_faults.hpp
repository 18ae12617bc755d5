// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/onnx/model.hpp"

namespace d5::openvino {

/// What OpenVINO, 2026.4 the newest of it, gets wrong of quantized nodes that stand together:
///
/// - numbers of 16 bits that are quantized and given back at once: it leaves the pair out, so that
///   nothing is rounded, nor held within the range;
/// - a Conv whose weights are quantized, fed by what a Concat gave and int8 quantized: it takes the
///   integers for others. uint8, groups, and weights that are floats are right.
///
/// Throws: Unsupported with the first such node.
void expect_no_quantization_fault(const onnx::Model& model);

}  // namespace d5::openvino

// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5::onnx::detail {

/// Adds the operators of com.microsoft, ONNX Runtime's domain, which converters and optimizers
/// write, to ONNX's registry. They are then checked, and have typed views (`nodes::microsoft::`),
/// like ONNX's own. Must be called before using the registry.
///
/// Thread safety: all threads; later calls do nothing.
void add_contrib_schemas();

}  // namespace d5::onnx::detail

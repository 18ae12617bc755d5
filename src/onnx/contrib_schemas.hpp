// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5::onnx::detail {

/// Tells ONNX's registry of operators that are none of ONNX's, but that converters and optimizers
/// write: those of com.microsoft, ONNX Runtime's domain. From then on they are checked, and have
/// typed views (`nodes::microsoft::`), as ONNX's own. Whoever asks the registry calls this first.
///
/// Thread safety: all; later calls do nothing.
void add_contrib_schemas();

}  // namespace d5::onnx::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/onnx/model.hpp"

namespace d5::onnx {

/// The same model in a newer opset of ai.onnx, by ONNX's own version converter. Tensors keep their
/// names, initializers their values; nodes that changed their form may have become several.
/// Throws: ValueError for a version that is older than the model's, or newer than `kNewestOpset`;
/// Unsupported, with the converter's reason, for what it cannot convert.
[[nodiscard]] Model in_opset(const Model& model, int version);

}  // namespace d5::onnx

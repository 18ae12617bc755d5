// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/onnx/model.hpp"

namespace d5::onnx {

/// The same model in a newer opset of ai.onnx. Tensors keep their names, initializers their values;
/// nodes that changed their form or meaning may have become several (docs/reference/level1.md,
/// "Opsets"). Throws: ValueError for a version that is older than the model's, or newer than
/// `kNewestOpset`; Unsupported, with the node, for what cannot be converted.
[[nodiscard]] Model in_opset(const Model& model, int version);

}  // namespace d5::onnx

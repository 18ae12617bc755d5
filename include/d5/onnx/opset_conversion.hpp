// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/onnx/model.hpp"

namespace d5::onnx {

/// Converts a model to a newer opset of ai.onnx. Tensors keep their names, initializers their
/// values. A node whose definition changed may become several (docs/reference/level1.md, "Opsets").
/// Throws: ValueError for a version older than the model's or newer than `kNewestOpset`;
/// Unsupported for a node that cannot be converted.
[[nodiscard]] Model in_opset(const Model& model, int version);

}  // namespace d5::onnx

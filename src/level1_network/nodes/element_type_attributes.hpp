// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/onnx/model.hpp"

namespace d5 {

/// Whether an attribute of the node holds the enumerator of an output's element type.
[[nodiscard]] bool names_element_type(const onnx::Node& node, const std::string& attribute);

/// Converts implicit float32 numbers in Constant and ConstantOfShape to the tensor attribute
/// `value`, which has an explicit type.
void spell_as_tensor(onnx::Node& node);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/onnx/model.hpp"

namespace d5 {

/// Whether an attribute of the node holds the number of an element type that it makes.
[[nodiscard]] bool names_element_type(const onnx::Node& node, const std::string& attribute);

/// Numbers in Constant and ConstantOfShape that are float32 without saying so become the tensor
/// attribute `value`, which does.
void spell_as_tensor(onnx::Node& node);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "level1_network/nodes/element_type_attributes.hpp"

namespace d5 {

bool names_element_type(const onnx::Node& node, const std::string& attribute) {
  return attribute == "dtype" || (attribute == "to" && node.op_type == "Cast");
}

void spell_as_tensor(onnx::Node& node) {
  if (node.op_type == "ConstantOfShape")
    node.attributes.try_emplace("value", Tensor::zeros(DType::float32, {1}));
  if (node.op_type != "Constant") return;
  Tensor value;
  if (const auto* number = node.attribute<float>("value_float")) value = Tensor::scalar(*number);
  if (const auto* list = node.attribute<std::vector<float>>("value_floats")) {
    value = Tensor::vector(*list);
  }
  if (value.defined()) node.attributes = {{"value", value}};
}

}  // namespace d5

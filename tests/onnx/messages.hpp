// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <span>
#include <string>
#include <vector>

#include "d5/onnx/file.hpp"

namespace d5::onnx {

/// Models written with ONNX's own messages, so that d5's writer is no witness of d5's reader.
inline std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

inline ::onnx::ModelProto model_message(int opset = 20) {
  ::onnx::ModelProto model;
  model.set_ir_version(10);
  auto& import = *model.add_opset_import();
  import.set_domain("");
  import.set_version(opset);
  model.mutable_graph()->set_name("g");
  return model;
}

inline void declare(::onnx::ValueInfoProto& info, const std::string& name,
                    const std::vector<std::int64_t>& dims,
                    ::onnx::TensorProto::DataType type = ::onnx::TensorProto::FLOAT) {
  info.set_name(name);
  auto& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  tensor.mutable_shape();
  for (const std::int64_t dim : dims) tensor.mutable_shape()->add_dim()->set_dim_value(dim);
}

template <class Holder>
::onnx::NodeProto& add_node(Holder& holder, const std::string& op_type,
                            const std::vector<std::string>& inputs,
                            const std::vector<std::string>& outputs) {
  auto& node = *holder.add_node();
  node.set_op_type(op_type);
  for (const std::string& name : inputs) node.add_input(name);
  for (const std::string& name : outputs) node.add_output(name);
  return node;
}

inline ::onnx::AttributeProto& add_attribute(::onnx::NodeProto& node, const std::string& name,
                                             ::onnx::AttributeProto::AttributeType type) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}

inline void add_int(::onnx::NodeProto& node, const std::string& name, std::int64_t value) {
  add_attribute(node, name, ::onnx::AttributeProto::INT).set_i(value);
}

inline void add_ints(::onnx::NodeProto& node, const std::string& name,
                     const std::vector<std::int64_t>& values) {
  add_attribute(node, name, ::onnx::AttributeProto::INTS)
      .mutable_ints()
      ->Assign(values.begin(), values.end());
}

/// y = Relu(x)
inline ::onnx::ModelProto relu_message() {
  auto model = model_message();
  auto& graph = *model.mutable_graph();
  declare(*graph.add_input(), "x", {2, 3});
  declare(*graph.add_output(), "y", {2, 3});
  add_node(graph, "Relu", {"x"}, {"y"});
  return model;
}

/// An initializer "w" of float32, without data.
inline ::onnx::TensorProto& add_weights(::onnx::ModelProto& message,
                                        const std::vector<std::int64_t>& dims) {
  auto& tensor = *message.mutable_graph()->add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(::onnx::TensorProto::FLOAT);
  for (const std::int64_t dim : dims) tensor.add_dims(dim);
  return tensor;
}

inline Model parse_message(const ::onnx::ModelProto& message, const LoadOptions& options = {}) {
  return parse(bytes_of(message.SerializeAsString()), "test.onnx", options);
}

}  // namespace d5::onnx

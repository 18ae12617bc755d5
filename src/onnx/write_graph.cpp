// SPDX-License-Identifier: Apache-2.0
#include "onnx/write_graph.hpp"

#include <type_traits>

#include "onnx/tensor_proto.hpp"
#include "onnx/type_proto.hpp"

namespace d5::onnx::detail {
namespace {

using ::onnx::AttributeProto;

/// One overload a type of attribute: `std::visit` chooses.
class AttributeWriter {
 public:
  explicit AttributeWriter(AttributeProto& proto) : proto_(proto) {}

  void operator()(std::int64_t value) const {
    proto_.set_type(AttributeProto::INT);
    proto_.set_i(value);
  }
  void operator()(float value) const {
    proto_.set_type(AttributeProto::FLOAT);
    proto_.set_f(value);
  }
  void operator()(const std::string& value) const {
    proto_.set_type(AttributeProto::STRING);
    proto_.set_s(value);
  }
  void operator()(const std::vector<std::int64_t>& values) const {
    proto_.set_type(AttributeProto::INTS);
    proto_.mutable_ints()->Assign(values.begin(), values.end());
  }
  void operator()(const std::vector<float>& values) const {
    proto_.set_type(AttributeProto::FLOATS);
    proto_.mutable_floats()->Assign(values.begin(), values.end());
  }
  void operator()(const std::vector<std::string>& values) const {
    proto_.set_type(AttributeProto::STRINGS);
    proto_.mutable_strings()->Assign(values.begin(), values.end());
  }
  void operator()(const Tensor& value) const {
    proto_.set_type(AttributeProto::TENSOR);
    write_tensor(value, "", *proto_.mutable_t());
  }
  void operator()(const std::vector<Tensor>& values) const {
    proto_.set_type(AttributeProto::TENSORS);
    for (const Tensor& value : values) write_tensor(value, "", *proto_.add_tensors());
  }
  void operator()(const SparseTensor& value) const {
    proto_.set_type(AttributeProto::SPARSE_TENSOR);
    write_sparse_tensor(value, "", *proto_.mutable_sparse_tensor());
  }
  void operator()(const std::shared_ptr<const Graph>& value) const {
    proto_.set_type(AttributeProto::GRAPH);
    write_graph(*value, *proto_.mutable_g());
  }
  void operator()(const std::vector<std::shared_ptr<const Graph>>& values) const {
    proto_.set_type(AttributeProto::GRAPHS);
    for (const auto& value : values) write_graph(*value, *proto_.add_graphs());
  }
  void operator()(const Type& value) const {
    proto_.set_type(AttributeProto::TYPE_PROTO);
    write_type(value, *proto_.mutable_tp());
  }
  void operator()(const std::vector<Type>& values) const {
    proto_.set_type(AttributeProto::TYPE_PROTOS);
    for (const Type& value : values) write_type(value, *proto_.add_type_protos());
  }

 private:
  AttributeProto& proto_;
};

void write_node(const Node& node, ::onnx::NodeProto& proto) {
  if (!node.name.empty()) proto.set_name(node.name);
  proto.set_op_type(node.op_type);
  if (!node.domain.empty()) proto.set_domain(node.domain);
  if (!node.doc.empty()) proto.set_doc_string(node.doc);
  for (const std::string& name : node.inputs) proto.add_input(name);
  for (const std::string& name : node.outputs) proto.add_output(name);
  for (const auto& [name, value] : node.attributes) {
    AttributeProto& attribute = *proto.add_attribute();
    attribute.set_name(name);
    std::visit(AttributeWriter(attribute), value);
  }
}

void write_value(const ValueInfo& value, ::onnx::ValueInfoProto& proto) {
  proto.set_name(value.name);
  if (value.type.kind != ValueKind::none) write_type(value.type, *proto.mutable_type());
}

}  // namespace

void write_graph(const Graph& graph, ::onnx::GraphProto& proto) {
  proto.set_name(graph.name.empty() ? "graph" : graph.name);  // ONNX asks for one
  if (!graph.doc.empty()) proto.set_doc_string(graph.doc);
  for (const Node& node : graph.nodes) write_node(node, *proto.add_node());
  for (const ValueInfo& value : graph.inputs) write_value(value, *proto.add_input());
  for (const ValueInfo& value : graph.outputs) write_value(value, *proto.add_output());
  for (const ValueInfo& value : graph.values) write_value(value, *proto.add_value_info());
  for (const auto& [name, tensor] : graph.initializers) {
    write_tensor(tensor, name, *proto.add_initializer());
  }
}

}  // namespace d5::onnx::detail

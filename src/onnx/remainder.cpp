// SPDX-License-Identifier: Apache-2.0
#include "onnx/remainder.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace d5::onnx::detail {
namespace {

using google::protobuf::RepeatedPtrField;

bool is_empty(const google::protobuf::Message& message) { return message.ByteSizeLong() == 0; }

template <class T>
void drop_if(RepeatedPtrField<T>& list, const auto& condition) {
  const auto kept = std::remove_if(list.begin(), list.end(), condition);
  list.erase(kept, list.end());
}

/// Clears the list if nothing remains of any element.
template <class T>
void strip_list(RepeatedPtrField<T>& list, const auto& strip_one) {
  for (T& element : list) strip_one(element);
  if (std::all_of(list.begin(), list.end(), [](const T& left) { return is_empty(left); })) {
    list.Clear();
  }
}

template <class TensorType>
bool strip_tensor_type(TensorType& type) {
  type.clear_elem_type();
  if (type.has_shape()) {
    strip_list(*type.mutable_shape()->mutable_dim(), [](auto& dim) {
      dim.clear_dim_value();
      dim.clear_dim_param();
    });
    if (is_empty(type.shape())) type.clear_shape();
  }
  return is_empty(type);
}

void strip(::onnx::TypeProto& type) {
  using Type = ::onnx::TypeProto;
  bool empty = false;
  switch (type.value_case()) {
    case Type::kTensorType:
      empty = strip_tensor_type(*type.mutable_tensor_type());
      break;
    case Type::kSparseTensorType:
      empty = strip_tensor_type(*type.mutable_sparse_tensor_type());
      break;
    case Type::kSequenceType:
      strip(*type.mutable_sequence_type()->mutable_elem_type());
      empty = is_empty(type.sequence_type().elem_type());
      break;
    case Type::kOptionalType:
      strip(*type.mutable_optional_type()->mutable_elem_type());
      empty = is_empty(type.optional_type().elem_type());
      break;
    case Type::kMapType:
      type.mutable_map_type()->clear_key_type();
      strip(*type.mutable_map_type()->mutable_value_type());
      empty = is_empty(type.map_type().value_type());
      break;
    default:
      return;
  }
  if (empty) type.clear_value();
}

void strip(::onnx::ValueInfoProto& value) {
  strip(*value.mutable_type());
  if (is_empty(value.type())) value.clear_type();
}

void strip_graph(::onnx::GraphProto& graph);

void strip(::onnx::AttributeProto& attribute) {
  const std::string name = attribute.name();
  const auto type = attribute.type();
  attribute.clear_name();
  attribute.clear_type();
  attribute.clear_i();
  attribute.clear_f();
  attribute.clear_s();
  attribute.clear_ints();
  attribute.clear_floats();
  attribute.clear_strings();
  attribute.clear_sparse_tensor();
  const auto strip_type = [](::onnx::TypeProto& one) { strip(one); };
  strip_list(*attribute.mutable_tensors(), strip_data);
  strip_list(*attribute.mutable_graphs(), strip_graph);
  strip_list(*attribute.mutable_type_protos(), strip_type);
  if (attribute.has_t()) strip_data(*attribute.mutable_t());
  if (is_empty(attribute.t())) attribute.clear_t();
  if (attribute.has_g()) strip_graph(*attribute.mutable_g());
  if (is_empty(attribute.g())) attribute.clear_g();
  if (attribute.has_tp()) strip_type(*attribute.mutable_tp());
  if (is_empty(attribute.tp())) attribute.clear_tp();
  if (is_empty(attribute)) return;
  attribute.set_name(name);
  attribute.set_type(type);
}

void strip(::onnx::NodeProto& node) {
  ::onnx::NodeProto key;
  key.set_op_type(node.op_type());
  key.set_domain(node.domain());
  key.mutable_output()->Swap(node.mutable_output());
  node.clear_op_type();
  node.clear_domain();
  node.clear_name();
  node.clear_input();
  node.clear_doc_string();
  for (auto& attribute : *node.mutable_attribute()) strip(attribute);
  drop_if(*node.mutable_attribute(), [](const auto& left) { return is_empty(left); });
  if (!is_empty(node)) node.MergeFrom(key);
}

/// Keeps inputs with an initializer, which `Graph` does not list, completely, and of the others the
/// name, for their order.
void strip_inputs(::onnx::GraphProto& graph) {
  std::set<std::string> initializers;
  for (const auto& tensor : graph.initializer()) initializers.insert(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) initializers.insert(tensor.values().name());
  for (auto& input : *graph.mutable_input()) {
    if (!initializers.contains(input.name())) strip(input);
  }
}

void strip_values(RepeatedPtrField<::onnx::ValueInfoProto>& values) {
  for (auto& value : values) strip(value);
  drop_if(values, [](const auto& value) {
    ::onnx::ValueInfoProto key;
    key.set_name(value.name());
    return value.ByteSizeLong() == key.ByteSizeLong();
  });
}

void strip_graph(::onnx::GraphProto& graph) {
  graph.clear_name();
  graph.clear_doc_string();
  for (auto& node : *graph.mutable_node()) strip(node);
  drop_if(*graph.mutable_node(), [](const auto& left) { return is_empty(left); });
  for (auto& tensor : *graph.mutable_initializer()) strip_data(tensor);
  strip_inputs(graph);
  strip_values(*graph.mutable_output());
  strip_values(*graph.mutable_value_info());
  graph.clear_sparse_initializer();
}

}  // namespace

void strip_data(::onnx::TensorProto& tensor) {
  tensor.clear_dims();
  tensor.clear_data_type();
  tensor.clear_segment();
  tensor.clear_raw_data();
  tensor.clear_float_data();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_uint64_data();
  tensor.clear_double_data();
  tensor.clear_string_data();
  tensor.clear_data_location();
  tensor.clear_external_data();
  // A message keeps the memory of cleared fields; a copy does not.
  ::onnx::TensorProto(tensor).Swap(&tensor);
}

void strip(::onnx::ModelProto& model) {
  model.clear_ir_version();
  model.clear_opset_import();
  model.clear_producer_name();
  model.clear_producer_version();
  model.clear_domain();
  model.clear_model_version();
  model.clear_doc_string();
  model.clear_metadata_props();
  model.clear_functions();
  strip_graph(*model.mutable_graph());
}

}  // namespace d5::onnx::detail

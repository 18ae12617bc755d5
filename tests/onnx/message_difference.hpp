// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "messages.hpp"

/// ONNX's own messages of a file and of what was saved of it, compared up to the normal forms that
/// docs/reference/file_formats.md lists.
namespace d5::onnx {

using google::protobuf::RepeatedPtrField;
using ::onnx::ModelProto;

/// Values as d5 reads them, raw: round_trip_test.cpp and ONNX's cases hold the reader to its word.
inline void normalise(::onnx::TensorProto& tensor) {
  if (tensor.data_type() == ::onnx::TensorProto::STRING) return;
  Type type;
  type.kind = ValueKind::tensor;
  const Value value = parse_value(bytes_of(tensor.SerializeAsString()), type, "tensor");
  ::onnx::TensorProto raw;
  raw.ParseFromString(serialize_value(value, ""));
  for (auto* data : {tensor.mutable_float_data()}) data->Clear();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_uint64_data();
  tensor.clear_double_data();
  tensor.set_raw_data(raw.raw_data());
}

template <class T, class Key>
void sort_by(RepeatedPtrField<T>& list, const Key& key) {
  std::sort(list.begin(), list.end(), [&](const T& a, const T& b) { return key(a) < key(b); });
}

inline void normalise(::onnx::TypeProto& type) {
  if (type.has_sequence_type())
    return normalise(*type.mutable_sequence_type()->mutable_elem_type());
  if (type.has_optional_type())
    return normalise(*type.mutable_optional_type()->mutable_elem_type());
  if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return;
  for (auto& dim : *type.mutable_tensor_type()->mutable_shape()->mutable_dim()) {
    if (dim.has_dim_value() && dim.dim_value() < 0) dim.clear_dim_value();
    if (dim.has_dim_param() && dim.dim_param().empty()) dim.clear_dim_param();
  }
}

inline void normalise(::onnx::GraphProto& graph) {
  for (auto& node : *graph.mutable_node()) {
    if (node.domain() == "ai.onnx") node.clear_domain();
    sort_by(*node.mutable_attribute(), [](const auto& a) { return a.name(); });
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_t()) normalise(*attribute.mutable_t());
      for (auto& tensor : *attribute.mutable_tensors()) normalise(tensor);
      if (attribute.has_g()) normalise(*attribute.mutable_g());
      for (auto& inner : *attribute.mutable_graphs()) normalise(inner);
    }
  }
  for (auto& tensor : *graph.mutable_initializer()) normalise(tensor);
  for (auto* list : {graph.mutable_input(), graph.mutable_output(), graph.mutable_value_info()}) {
    for (auto& value : *list) normalise(*value.mutable_type());
  }
}

inline void normalise(ModelProto& model) {
  if (model.ir_version() < 3) {
    model.set_ir_version(3);
    if (model.opset_import().empty()) model.add_opset_import()->set_version(1);
  }
  for (auto& import : *model.mutable_opset_import()) {
    if (import.domain() == "ai.onnx") import.clear_domain();
  }
  sort_by(*model.mutable_opset_import(), [](const auto& import) { return import.domain(); });
  sort_by(*model.mutable_metadata_props(), [](const auto& entry) { return entry.key(); });
  normalise(*model.mutable_graph());
}

/// Inference may say more than the file does, and contradict nothing: what it adds is taken away.
inline void take_away_inferred(const ::onnx::TypeProto& declared, ::onnx::TypeProto& saved) {
  if (declared.value_case() == ::onnx::TypeProto::VALUE_NOT_SET) {
    saved.clear_value();
  } else if (declared.has_sequence_type() && saved.has_sequence_type()) {
    take_away_inferred(declared.sequence_type().elem_type(),
                       *saved.mutable_sequence_type()->mutable_elem_type());
  } else if (declared.has_optional_type() && saved.has_optional_type()) {
    take_away_inferred(declared.optional_type().elem_type(),
                       *saved.mutable_optional_type()->mutable_elem_type());
  } else if (declared.has_tensor_type() && saved.has_tensor_type()) {
    const auto& before = declared.tensor_type();
    auto& after = *saved.mutable_tensor_type();
    if (!before.has_elem_type() || before.elem_type() == 0) after.clear_elem_type();
    if (!before.has_shape()) return after.clear_shape();
    if (before.shape().dim_size() != after.shape().dim_size()) return;
    for (int i = 0; i < before.shape().dim_size(); ++i) {
      const auto& dim = before.shape().dim(i);
      auto& other = *after.mutable_shape()->mutable_dim(i);
      if (dim.has_dim_value()) continue;
      other.clear_dim_value();
      if (dim.has_dim_param()) {
        other.set_dim_param(dim.dim_param());  // a size in the place of its name
      } else {
        other.clear_dim_param();
      }
    }
  }
}

inline void take_away_inferred(const RepeatedPtrField<::onnx::ValueInfoProto>& declared,
                               RepeatedPtrField<::onnx::ValueInfoProto>& saved) {
  std::map<std::string, const ::onnx::ValueInfoProto*> by_name;
  for (const auto& value : declared) by_name[value.name()] = &value;
  const auto kept = std::remove_if(saved.begin(), saved.end(), [&](const auto& value) {
    return !by_name.contains(value.name());
  });
  saved.erase(kept, saved.end());
  for (auto& value : saved) {
    take_away_inferred(by_name.at(value.name())->type(), *value.mutable_type());
  }
}

inline void take_away_inferred(const ::onnx::GraphProto& declared, ::onnx::GraphProto& saved) {
  take_away_inferred(declared.input(), *saved.mutable_input());
  take_away_inferred(declared.output(), *saved.mutable_output());
  take_away_inferred(declared.value_info(), *saved.mutable_value_info());
  for (int i = 0; i < std::min(declared.node_size(), saved.node_size()); ++i) {
    const auto& node = declared.node(i);
    auto& other = *saved.mutable_node(i);
    for (int k = 0; k < std::min(node.attribute_size(), other.attribute_size()); ++k) {
      if (!node.attribute(k).has_g()) continue;
      take_away_inferred(node.attribute(k).g(), *other.mutable_attribute(k)->mutable_g());
    }
  }
}

/// How the file differs from what loading and saving makes of it.
inline std::string difference(ModelProto original, const std::string& saved_bytes) {
  ModelProto saved;
  REQUIRE(saved.ParseFromString(saved_bytes));
  if (original.producer_name().empty()) {
    saved.clear_producer_name();
    saved.clear_producer_version();
  }
  normalise(original);
  normalise(saved);
  take_away_inferred(original.graph(), *saved.mutable_graph());
  std::string differences;
  google::protobuf::util::MessageDifferencer differencer;
  differencer.set_message_field_comparison(google::protobuf::util::MessageDifferencer::EQUIVALENT);
  differencer.ReportDifferencesToString(&differences);
  (void)differencer.Compare(original, saved);
  return differences.substr(0, 2000);
}

}  // namespace d5::onnx

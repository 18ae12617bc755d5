// SPDX-License-Identifier: Apache-2.0
#include "d5/onnx/schema.hpp"

#include <fmt/format.h>
#include <google/protobuf/stubs/common.h>
#include <onnx/common/version.h>
#include <onnx/defs/data_type_utils.h>
#include <onnx/defs/schema.h>

#include <algorithm>

#include "d5/core/results/environment.hpp"
#include "onnx/contrib_schemas.hpp"

namespace d5::onnx {
namespace {

[[maybe_unused]] const bool noted = [] {
  constexpr int v = GOOGLE_PROTOBUF_VERSION;
  note_library("ONNX", ::onnx::LAST_RELEASE_VERSION);
  note_library("Protobuf", fmt::format("{}.{}.{}", v / 1000000, v / 1000 % 1000, v % 1000));
  return true;
}();

AttributeKind kind_of(::onnx::AttributeProto::AttributeType type) {
  switch (type) {
    case ::onnx::AttributeProto::INT:
      return AttributeKind::integer;
    case ::onnx::AttributeProto::FLOAT:
      return AttributeKind::real;
    case ::onnx::AttributeProto::STRING:
      return AttributeKind::text;
    case ::onnx::AttributeProto::INTS:
      return AttributeKind::integers;
    case ::onnx::AttributeProto::FLOATS:
      return AttributeKind::reals;
    case ::onnx::AttributeProto::STRINGS:
      return AttributeKind::texts;
    case ::onnx::AttributeProto::TENSOR:
      return AttributeKind::tensor;
    case ::onnx::AttributeProto::TENSORS:
      return AttributeKind::tensors;
    case ::onnx::AttributeProto::GRAPH:
      return AttributeKind::graph;
    case ::onnx::AttributeProto::GRAPHS:
      return AttributeKind::graphs;
    default:
      return AttributeKind::other;
  }
}

void add_kind(Parameter& parameter, ValueKind kind) {
  if (std::ranges::find(parameter.kinds, kind) == parameter.kinds.end()) {
    parameter.kinds.push_back(kind);
  }
}

Parameter read(const ::onnx::OpSchema::FormalParameter& from) {
  using ::onnx::OpSchema;
  Parameter result;
  result.name = from.GetName();
  result.optional = from.GetOption() == OpSchema::Optional;
  result.variadic = from.GetOption() == OpSchema::Variadic;
  result.non_differentiable = from.GetDifferentiationCategory() == OpSchema::NonDifferentiable;
  if (!result.variadic || from.GetIsHomogeneous()) result.type = from.GetTypeStr();
  for (const auto& type : from.GetTypes()) {
    const ::onnx::TypeProto& proto = ::onnx::Utils::DataTypeUtils::ToTypeProto(type);
    if (proto.has_sequence_type()) add_kind(result, ValueKind::sequence);
    if (proto.has_optional_type()) add_kind(result, ValueKind::optional);
    if (proto.has_map_type()) add_kind(result, ValueKind::map);
    if (!proto.has_tensor_type()) continue;
    add_kind(result, ValueKind::tensor);
    result.element_types.push_back(DType(proto.tensor_type().elem_type()));
  }
  std::ranges::sort(result.element_types);  // unordered in ONNX
  return result;
}

}  // namespace

std::optional<Schema> schema_of(const Node& node) {
  using ::onnx::OpSchema;
  detail::add_contrib_schemas();
  const OpSchema* schema = ::onnx::OpSchemaRegistry::Schema(node.op_type, node.opset, node.domain);
  if (!schema) return std::nullopt;
  Schema result{.least_inputs = schema->min_input(),
                .most_inputs = schema->max_input(),
                .least_outputs = schema->min_output(),
                .most_outputs = schema->max_output(),
                .inputs = {},
                .outputs = {},
                .attributes = {},
                .since = schema->since_version(),
                .deprecated = schema->deprecated()};
  for (const auto& [name, attribute] : schema->attributes()) {
    result.attributes[name] = kind_of(attribute.type);
  }
  for (const auto& input : schema->inputs()) result.inputs.push_back(read(input));
  for (const auto& output : schema->outputs()) result.outputs.push_back(read(output));
  return result;
}

const Parameter* parameter(const std::vector<Parameter>& parameters, std::size_t i) {
  if (i < parameters.size()) return &parameters[i];
  return !parameters.empty() && parameters.back().variadic ? &parameters.back() : nullptr;
}

std::string describe_input(const Node& node, std::size_t i) {
  const auto schema = schema_of(node);
  const Parameter* input = schema ? parameter(schema->inputs, i) : nullptr;
  return input ? fmt::format("input {} ({})", i, input->name) : fmt::format("input {}", i);
}

int newest_opset(std::string_view domain) {
  detail::add_contrib_schemas();
  const auto versions = ::onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  const auto place = versions.find(std::string(domain));
  return place == versions.end() ? 1 : place->second.second;
}

}  // namespace d5::onnx

// SPDX-License-Identifier: Apache-2.0
#include "d5/onnx/schema.hpp"

#include <fmt/format.h>
#include <google/protobuf/stubs/common.h>
#include <onnx/common/version.h>
#include <onnx/defs/schema.h>

#include "d5/core/environment.hpp"

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

}  // namespace

std::optional<Schema> schema_of(const Node& node) {
  using ::onnx::OpSchema;
  const OpSchema* schema = ::onnx::OpSchemaRegistry::Schema(node.op_type, node.opset, node.domain);
  if (!schema) return std::nullopt;
  Schema result{schema->min_input(), schema->min_output(), {}, {}};
  for (const auto& [name, attribute] : schema->attributes()) {
    result.attributes[name] = kind_of(attribute.type);
  }
  for (const auto& output : schema->outputs()) {
    result.non_differentiable_outputs.push_back(output.GetDifferentiationCategory() ==
                                                OpSchema::NonDifferentiable);
  }
  return result;
}

int newest_opset(std::string_view domain) {
  const auto versions = ::onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  const auto place = versions.find(std::string(domain));
  return place == versions.end() ? 1 : place->second.second;
}

}  // namespace d5::onnx

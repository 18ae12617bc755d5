// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <set>

#include "d5/core/errors/error.hpp"
#include "onnx/remainder.hpp"
#include "onnx/stages.hpp"
#include "onnx/tensor_proto.hpp"
#include "onnx/type_proto.hpp"

namespace d5::onnx::detail {
namespace {

using ::onnx::AttributeProto;

/// Before IR version 2, the filled field determines the type.
AttributeProto::AttributeType type_of(const AttributeProto& proto) {
  if (proto.type() != AttributeProto::UNDEFINED) return proto.type();
  if (proto.has_f()) return AttributeProto::FLOAT;
  if (proto.has_i()) return AttributeProto::INT;
  if (proto.has_s()) return AttributeProto::STRING;
  if (proto.has_t()) return AttributeProto::TENSOR;
  if (proto.has_g()) return AttributeProto::GRAPH;
  if (proto.floats_size() > 0) return AttributeProto::FLOATS;
  if (proto.ints_size() > 0) return AttributeProto::INTS;
  if (proto.strings_size() > 0) return AttributeProto::STRINGS;
  if (proto.tensors_size() > 0) return AttributeProto::TENSORS;
  if (proto.graphs_size() > 0) return AttributeProto::GRAPHS;
  return AttributeProto::UNDEFINED;
}

class GraphReader {
 public:
  GraphReader(const std::map<std::string, int>& opsets, Source& source)
      : opsets_(opsets), source_(source) {}

  /// Error messages contain the path of an inner graph.
  Graph read(const ::onnx::GraphProto& proto) {
    Graph result;
    result.name = proto.name();
    result.doc = proto.doc_string();
    for (const auto& node : proto.node()) result.nodes.push_back(read_node(node));
    read_values(proto.input(), result.inputs);
    read_values(proto.output(), result.outputs);
    read_values(proto.value_info(), result.values);
    for (const auto& tensor : proto.initializer()) {
      result.initializers.emplace(tensor.name(), read_tensor(tensor, source_));
    }
    read_sparse_initializers(proto, result);
    return result;
  }

  void read_sparse_initializers(const ::onnx::GraphProto& proto, Graph& graph) {
    for (const auto& sparse : proto.sparse_initializer()) {
      const std::string& name = sparse.values().name();
      graph.initializers.emplace(name,
                                 to_dense(read_sparse_tensor(sparse, source_), name, source_));
    }
  }

  Node read_node(const ::onnx::NodeProto& proto) {
    Node result;
    result.name = proto.name();
    result.op_type = proto.op_type();
    result.domain = proto.domain();
    result.doc = proto.doc_string();
    result.inputs.assign(proto.input().begin(), proto.input().end());
    result.outputs.assign(proto.output().begin(), proto.output().end());
    const auto version = opsets_.find(proto.domain());
    if (version == opsets_.end()) {
      source_.fail(fmt::format("{}: the model imports no version of its domain", describe(result)));
    }
    result.opset = version->second;
    for (const auto& attribute : proto.attribute()) {
      result.attributes.emplace(attribute.name(), read_attribute(attribute, describe(result)));
    }
    return result;
  }

  void read_values(const google::protobuf::RepeatedPtrField<::onnx::ValueInfoProto>& from,
                   std::vector<ValueInfo>& to) {
    for (const auto& info : from) {
      const std::string who = fmt::format("value '{}'", printable(info.name()));
      to.push_back({info.name(), read_type(info.type(), source_, who)});
    }
  }

 private:
  std::shared_ptr<const Graph> read_shared(const ::onnx::GraphProto& proto) {
    return std::make_shared<const Graph>(read(proto));
  }

  Attribute read_attribute(const AttributeProto& proto, const std::string& node) {
    const std::string who = fmt::format("{}: attribute {}", node, printable(proto.name()));
    if (!proto.ref_attr_name().empty()) {
      source_.fail(fmt::format("{} refers to an attribute of a function, but is not in one", who));
    }
    const auto list = [](const auto& field, auto&& read_one) {
      std::vector<decltype(read_one(field[0]))> result;
      for (const auto& item : field) result.push_back(read_one(item));
      return result;
    };
    switch (type_of(proto)) {
      case AttributeProto::INT:
        return std::int64_t(proto.i());
      case AttributeProto::FLOAT:
        return proto.f();
      case AttributeProto::STRING:
        return proto.s();
      case AttributeProto::INTS:
        return std::vector<std::int64_t>(proto.ints().begin(), proto.ints().end());
      case AttributeProto::FLOATS:
        return std::vector<float>(proto.floats().begin(), proto.floats().end());
      case AttributeProto::STRINGS:
        return std::vector<std::string>(proto.strings().begin(), proto.strings().end());
      case AttributeProto::TENSOR:
        return read_tensor(proto.t(), source_);
      case AttributeProto::TENSORS:
        return list(proto.tensors(), [&](const auto& t) { return read_tensor(t, source_); });
      case AttributeProto::SPARSE_TENSOR:
        return read_sparse_tensor(proto.sparse_tensor(), source_);
      case AttributeProto::GRAPH:
        return read_shared(proto.g());
      case AttributeProto::GRAPHS:
        return list(proto.graphs(), [&](const auto& g) { return read_shared(g); });
      case AttributeProto::TYPE_PROTO:
        return read_type(proto.tp(), source_, who);
      case AttributeProto::TYPE_PROTOS:
        return list(proto.type_protos(), [&](const auto& t) { return read_type(t, source_, who); });
      case AttributeProto::SPARSE_TENSORS:
        source_.refuse(who + " is a list of sparse tensors, which no ONNX operator supports");
      case AttributeProto::UNDEFINED:
        break;
    }
    source_.fail(who + " has no value");
  }

  const std::map<std::string, int>& opsets_;
  Source& source_;
};

}  // namespace

Graph read_graph(::onnx::GraphProto& proto, const std::map<std::string, int>& opsets,
                 Source& source) {
  GraphReader reader(opsets, source);
  // Frees each weight after reading, so that memory does not hold them twice.
  std::map<std::string, Tensor, std::less<>> initializers;
  google::protobuf::RepeatedPtrField<::onnx::TensorProto> read;
  read.Swap(proto.mutable_initializer());
  for (auto& tensor : read) {
    initializers.emplace(tensor.name(), read_tensor(tensor, source));
    strip_data(tensor);
  }
  Graph result = reader.read(proto);
  result.initializers.merge(initializers);
  read.Swap(proto.mutable_initializer());
  // Removes parameters from the inputs, where files before IR version 4 list them.
  std::erase_if(result.inputs,
                [&](const ValueInfo& input) { return result.initializers.contains(input.name); });
  return result;
}

}  // namespace d5::onnx::detail

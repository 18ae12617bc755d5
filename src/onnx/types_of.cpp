// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "onnx/stages.hpp"
#include "onnx/tensor_proto.hpp"
#include "onnx/type_proto.hpp"
#include "onnx/write_graph.hpp"

namespace d5::onnx {
namespace {

/// Rules read the values of shapes and axes, never those of weights.
constexpr std::int64_t kMostElements = 1024;

void write_small(const Tensor& tensor, const std::string& name, ::onnx::TensorProto& proto) {
  if (tensor.elements() > kMostElements) return detail::write_desc(tensor, name, proto);
  detail::write_tensor(tensor.on_host(), name, proto);
}

}  // namespace

std::map<std::string, Type, std::less<>> types_of(const Model& model) {
  ::onnx::ModelProto proto;
  for (const auto& [domain, version] : model.opset_imports) {
    auto& import = *proto.add_opset_import();
    import.set_domain(domain);
    import.set_version(version);
  }
  detail::write_graph(model.graph, *proto.mutable_graph(), write_small);
  const detail::Source source{printable(model.graph.name), std::nullopt};
  detail::infer_types(proto, source);
  std::map<std::string, Type, std::less<>> types;
  const auto& graph = proto.graph();
  for (const auto* list : {&graph.input(), &graph.value_info(), &graph.output()}) {
    for (const auto& info : *list) {
      types[info.name()] = detail::read_type(info.type(), source, printable(info.name()));
    }
  }
  return types;
}

}  // namespace d5::onnx

// SPDX-License-Identifier: Apache-2.0
#include "level1_network/nodes/structure_digest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/files/sha256.hpp"
#include "level1_network/nodes/same_as_any.hpp"

namespace d5 {
namespace {

/// Writes the length before each part, so that different structures have different texts.
class Structure {
 public:
  enum class Weights { described, read };
  explicit Structure(Weights weights) : weights_(weights) {}
  std::string digest() { return sha_.digest(); }

  void add(std::string_view text) { sha_.add(fmt::format("{}:", text.size())).add(text); }

  void add(const Tensor& tensor) {
    add(to_string(tensor.desc()));
    if (tensor.dtype() == DType::string) {
      for (const auto& text : tensor.span<std::string>()) add(text);
    } else if (tensor.device() == Device{}) {
      add({static_cast<const char*>(tensor.raw()), tensor.bytes()});
    }
  }

  void add(const onnx::Graph& graph) {
    for (const auto& [name, tensor] : graph.initializers) {
      add(name);
      if (weights_ == Weights::described && is_floating_point(tensor.dtype())) {
        add(to_string(TensorDesc{tensor.dtype(), tensor.shape()}));
      } else {
        add(tensor);
      }
    }
    for (const auto& node : graph.nodes) add(node);
    for (const auto* infos : {&graph.inputs, &graph.outputs}) {
      for (const auto& info : *infos) add(info.name), add(onnx::to_string(info.type));
    }
  }

 private:
  void add(const onnx::Node& node) {
    add(fmt::format("{} {} {}", node.domain, node.op_type, node.opset));
    for (const auto& name : node.inputs) add(name);
    add("->");
    for (const auto& name : node.outputs) add(name);
    for (const auto& [name, attribute] : node.attributes) {
      add(name);
      add(fmt::format("{}", attribute.index()));
      std::visit([&](const auto& value) { add_attribute(value); }, attribute);
    }
  }

  template <class T>
  void add_attribute(const T& value) {
    if constexpr (same_as_any<T, std::string, Tensor>) {
      add(value);
    } else if constexpr (same_as_any<T, std::int64_t, float>) {
      add(fmt::format("{}", value));
    } else if constexpr (std::same_as<T, onnx::SparseTensor>) {
      add(value.values), add(value.indices), add(to_string(value.shape));
    } else if constexpr (std::same_as<T, std::shared_ptr<const onnx::Graph>>) {
      add(*value);
    } else if constexpr (std::same_as<T, onnx::Type>) {
      add(onnx::to_string(value));
    } else {
      add(fmt::format("{}", value.size()));
      for (const auto& one : value) add_attribute(one);
    }
  }

  const Weights weights_;
  detail::Sha256 sha_;
};

std::string digest_of(const onnx::Graph& graph, Structure::Weights weights) {
  Structure structure(weights);
  structure.add(graph);
  return structure.digest();
}

}  // namespace

std::string structure_digest(const onnx::Graph& graph) {
  return digest_of(graph, Structure::Weights::described);
}

std::string content_digest(const onnx::Graph& graph) {
  return digest_of(graph, Structure::Weights::read);
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "onnx/tensor_origins.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "onnx/remainder.hpp"

namespace d5::onnx {
namespace {

constexpr std::string_view kKind = "pkg.torch.export.graph_signature.InputSpec.kind";
constexpr std::string_view kFoldedFrom = "pkg.onnxscript.optimizer.folded_from";

using Metadata = std::map<std::string, std::map<std::string, std::string, std::less<>>>;

Metadata metadata_of(const Remainder& remainder) {
  Metadata result;
  if (!remainder.content()) return result;
  const auto take = [&](const auto& list) {
    for (const auto& one : list) {
      for (const auto& entry : one.metadata_props())
        result[one.name()][entry.key()] = entry.value();
    }
  };
  const auto& graph = remainder.content()->message.graph();
  take(graph.value_info());
  take(graph.input());
  take(graph.initializer());
  return result;
}

/// Whether the exporter generated the name, for numbers and values computed from them: "val_12".
bool is_generated(std::string_view name) {
  constexpr std::string_view kPrefix = "val_";
  return name.starts_with(kPrefix) && name.size() > kPrefix.size() &&
         name.find_first_not_of("0123456789", kPrefix.size()) == std::string_view::npos;
}

/// Whether all names in "['conv.weight', 'val_3']" are generated. Ignores tensors computed in a
/// run, of which a constant can only use the shape.
bool are_generated(std::string_view list, const std::set<std::string, std::less<>>& computed) {
  for (std::size_t begin = list.find('\''); begin != std::string_view::npos;) {
    const std::size_t end = list.find('\'', begin + 1);
    if (end == std::string_view::npos) return false;
    const std::string_view name = list.substr(begin + 1, end - begin - 1);
    if (!is_generated(name) && !computed.contains(name)) return false;
    begin = list.find('\'', end + 1);
  }
  return true;
}

}  // namespace

TensorOrigins tensor_origins(const Model& model, const Remainder& remainder) {
  const Metadata metadata = metadata_of(remainder);
  const auto tells = [](const auto& one) {
    return one.second.contains(kKind) || one.second.contains(kFoldedFrom);
  };
  TensorOrigins origins;
  if (std::ranges::none_of(metadata, tells)) return origins;
  std::set<std::string, std::less<>> computed;
  for (const auto& input : model.graph.inputs) computed.insert(input.name);
  for (const auto& node : model.graph.nodes) {
    computed.insert(node.outputs.begin(), node.outputs.end());
  }
  for (const auto& [name, value] : model.graph.initializers) {
    const auto place = metadata.find(name);
    const auto text = [&](std::string_view key) -> const std::string* {
      if (place == metadata.end()) return nullptr;
      const auto entry = place->second.find(key);
      return entry == place->second.end() ? nullptr : &entry->second;
    };
    if (const std::string* kind = text(kKind)) {
      if (*kind == "PARAMETER") origins[name] = TensorOrigin::parameter;
      if (*kind == "BUFFER") origins[name] = TensorOrigin::buffer;
      if (*kind == "CONSTANT_TENSOR") origins[name] = TensorOrigin::number;
    } else if (const std::string* folded = text(kFoldedFrom)) {
      if (are_generated(*folded, computed)) origins[name] = TensorOrigin::number;
    } else if (is_generated(name)) {
      origins[name] = TensorOrigin::number;
    }
  }
  return origins;
}

}  // namespace d5::onnx

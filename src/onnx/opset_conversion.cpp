// SPDX-License-Identifier: Apache-2.0
#include "d5/onnx/opset_conversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/file.hpp"
#include "onnx/opset/opset_step.hpp"

namespace d5::onnx {
namespace {

using detail::ConversionNames;
using detail::ConversionScope;
using detail::OpsetChange;
using detail::OpsetStep;
using GraphPointer = std::shared_ptr<const Graph>;

/// The first change of `op_type` after opset `version`; null if there is none.
const OpsetChange* next_change(const std::string& op_type, int version) {
  static const auto changes = [] {
    std::map<std::string, detail::OpsetChanges, std::less<>> result;
    for (const auto& list :
         {detail::input_changes(), detail::broadcasting_changes(), detail::resampling_changes(),
          detail::normalization_changes(), detail::form_changes()}) {
      for (const auto& change : list) {
        for (const auto& name : change.operators) result[std::string(name)].push_back(change);
      }
    }
    for (auto& [name, list] : result) std::ranges::sort(list, {}, &OpsetChange::version);
    return result;
  }();
  const auto place = changes.find(op_type);
  if (place == changes.end()) return nullptr;
  const auto change = std::ranges::find_if(
      place->second, [&](const OpsetChange& one) { return one.version > version; });
  return change == place->second.end() ? nullptr : &*change;
}

/// Calls `change` with each graph of a node.
template <class Change>
void for_each_held(Node& node, const Change& change) {
  for (auto& [name, attribute] : node.attributes) {
    if (auto* graph = std::get_if<GraphPointer>(&attribute)) change(*graph);
    if (auto* graphs = std::get_if<std::vector<GraphPointer>>(&attribute)) {
      for (auto& one : *graphs) change(one);
    }
  }
}

void collect_names(const Graph& graph, ConversionNames& names) {
  for (const auto* list : {&graph.inputs, &graph.outputs}) {
    for (const auto& info : *list) names.taken.insert(info.name);
  }
  for (const auto& info : graph.outputs) names.read.insert(info.name);
  for (const auto& [name, value] : graph.initializers) names.taken.insert(name);
  for (Node node : graph.nodes) {
    names.read.insert(node.inputs.begin(), node.inputs.end());
    names.taken.insert(node.outputs.begin(), node.outputs.end());
    for_each_held(node, [&](const GraphPointer& held) { collect_names(*held, names); });
  }
}

Type tensor_type(const Tensor& value) {
  Type type;
  type.kind = ValueKind::tensor;
  type.dtype = value.dtype();
  type.has_shape = true;
  type.dims.assign(value.shape().begin(), value.shape().end());
  return type;
}

class GraphConversion {
 public:
  GraphConversion(const Graph& graph, const ConversionScope* outer, ConversionNames& names,
                  int last)
      : names_(names), last_(last) {
    scope_.outer = outer;
    for (const auto* list : {&graph.values, &graph.inputs, &graph.outputs}) {
      for (const auto& [name, type] : *list) scope_.types[name] = type;
    }
    for (const auto& [name, value] : graph.initializers) {
      scope_.values[name] = value;
      scope_.types[name] = tensor_type(value);
    }
  }

  std::vector<Node> run(const std::vector<Node>& nodes) {
    for (const Node& node : nodes) advance(node);
    return std::move(converted_);
  }

 private:
  /// Converts a node as far as possible, and its replacements recursively.
  void advance(Node node) {
    constexpr int kWithoutConsumed = 6;  // Caffe2's list of overwritten inputs
    if (node.domain.empty()) {
      if (node.opset < kWithoutConsumed && last_ >= kWithoutConsumed) {
        node.attributes.erase("consumed_inputs");
      }
      const OpsetChange* change = next_change(node.op_type, node.opset);
      if (change && change->version <= last_) {
        std::vector<Node> made;
        OpsetStep step(scope_, names_, change->version, last_, made);
        change->convert(step, std::move(node));
        for (auto& one : made) advance(std::move(one));
        return;
      }
      node.opset = last_;
    }
    for_each_held(node, [&](GraphPointer& held) {
      auto graph = std::make_shared<Graph>(*held);
      graph->nodes = GraphConversion(*held, &scope_, names_, last_).run(held->nodes);
      held = std::move(graph);
    });
    note_constant(node);
    converted_.push_back(std::move(node));
  }

  void note_constant(const Node& node) {
    if (node.op_type != "Constant" || !node.domain.empty()) return;
    for (const auto& [name, attribute] : node.attributes) {
      if (const auto* tensor = std::get_if<Tensor>(&attribute)) {
        scope_.values[node.outputs.front()] = *tensor;
      }
    }
  }

  ConversionScope scope_;
  ConversionNames& names_;
  int last_;
  std::vector<Node> converted_;
};

/// Conversions read the values of shapes and axes, never those of weights.
constexpr std::int64_t kMostChecked = 1024;

/// The model with weights as inputs, so that serializing it for the check is cheap.
Model without_weights(const Model& model) {
  Model light = model;
  std::erase_if(light.graph.initializers, [&](const auto& item) {
    const auto& [name, value] = item;
    if (value.elements() <= kMostChecked) return false;
    light.graph.inputs.push_back({name, tensor_type(value)});
    return true;
  });
  return light;
}

/// Serializes and loads the model, which infers the types of all tensors and checks it.
Model read_back(const Model& model) {
  const std::string bytes = serialize(model);
  return parse(std::as_bytes(std::span(bytes)), model.graph.name);
}

[[noreturn]] void refuse(const Model& model, int from, int to, const std::string& reason) {
  throw Unsupported(fmt::format("model '{}' cannot be converted from opset {} to {}: {}",
                                printable(model.graph.name), from, to, reason));
}

}  // namespace

Model in_opset(const Model& model, int version) {
  const auto import = model.opset_imports.find("");
  if (import == model.opset_imports.end() || import->second == version) return model;
  const int from = import->second;
  if (version < from || version > kNewestOpset) {
    throw ValueError(fmt::format("model '{}' is of opset {}; expected a newer one up to {}, not {}",
                                 printable(model.graph.name), from, kNewestOpset, version));
  }
  Model result;
  try {
    Model light = read_back(without_weights(model));
    ConversionNames names;
    collect_names(light.graph, names);
    light.graph.nodes =
        GraphConversion(light.graph, nullptr, names, version).run(light.graph.nodes);
    light.opset_imports[""] = version;
    result = read_back(light);
  } catch (const FormatError& error) {
    refuse(model, from, version,
           fmt::format("the result would not be a valid model: {}", error.what()));
  } catch (const Unsupported& error) {
    refuse(model, from, version, error.what());
  }
  result.graph.inputs = model.graph.inputs;
  result.graph.outputs = model.graph.outputs;
  for (const auto& [name, value] : model.graph.initializers) {
    result.graph.initializers[name] = value;
  }
  result.ir_version = std::max(result.ir_version, model.ir_version);
  return result;
}

}  // namespace d5::onnx

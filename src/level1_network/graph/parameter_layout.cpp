// SPDX-License-Identifier: Apache-2.0
#include "level1_network/graph/parameter_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "d5/core/error.hpp"
#include "d5/core/framework.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/visitor.hpp"
#include "level1_network/nodes/node_names.hpp"

namespace d5 {

bool may_be_trained(DType dtype) {
  return dtype == DType::float32 || dtype == DType::float64 || dtype == DType::float16 ||
         dtype == DType::bfloat16;
}

namespace {

/// Adds those of `candidates` to `result` that a node of `graph` can be differentiated by.
void add_trainable(const onnx::Graph& graph, const std::set<std::string>& candidates,
                   const OperatorRegistry& registry, std::set<std::string>& result) {
  for (const auto& node : graph.nodes) {
    std::unique_ptr<Operator> op;
    if (registry.has_operator(node)) {
      try {
        op = registry.make(node);
      } catch (const Error&) {
        continue;  // a node that cannot be made says so when the network is compiled
      }
    }
    const auto differentiable = [&](std::size_t place) {
      return !op || op->gradients().contains(place);
    };
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (candidates.contains(node.inputs[i]) && differentiable(i)) result.insert(node.inputs[i]);
    }
    if (!differentiable(node.inputs.size())) continue;
    for (const auto& [attribute, subgraph] : onnx::subgraphs(node)) {
      std::set<std::string> captured;
      for (auto& name : onnx::captured_names(*subgraph)) {
        if (candidates.contains(name)) captured.insert(std::move(name));
      }
      add_trainable(*subgraph, captured, registry, result);
    }
  }
}

}  // namespace

std::vector<std::string> trainable_initializers(const onnx::Graph& graph) {
  std::set<std::string> candidates, result;
  for (const auto& [name, tensor] : graph.initializers) {
    if (may_be_trained(tensor.dtype())) candidates.insert(name);
  }
  add_trainable(graph, candidates, framework("reference").part<OperatorRegistry>(), result);
  return {result.begin(), result.end()};
}

std::vector<Tensor> held_weights(const onnx::Node& node) {
  std::vector<Tensor> result;
  for (const auto& [attribute, graph] : onnx::subgraphs(node)) {
    std::map<std::string, Tensor> known(graph->initializers.begin(), graph->initializers.end());
    for (const auto& inner : graph->nodes) {
      const auto* value = inner.op_type == "Constant" ? inner.attribute<Tensor>("value") : nullptr;
      if (value && !inner.outputs.empty()) known[inner.outputs.front()] = *value;
    }
    std::set<std::string> candidates, weights;
    for (const auto& [name, tensor] : known) {
      if (may_be_trained(tensor.dtype())) candidates.insert(name);
    }
    add_trainable(*graph, candidates, framework("reference").part<OperatorRegistry>(), weights);
    for (const auto& name : weights) result.push_back(known.at(name));
    for (const auto& inner : graph->nodes)
      std::ranges::move(held_weights(inner), std::back_inserter(result));
  }
  return result;
}

ParameterLayout lay_out_parameters(const onnx::Graph& graph, const std::vector<std::string>& names,
                                   const std::function<Arena(std::size_t bytes)>& make_arena) {
  struct Place {
    std::size_t node, input;
    std::string name;
  };
  std::map<std::string, Place> places;
  for (const auto& name : names) places[name] = {0, 0, name};  // nobody reads it: last
  for (std::size_t n = graph.nodes.size(); n-- > 0;) {
    const auto reads = read_names(graph.nodes[n]);
    for (std::size_t i = reads.size(); i-- > 0;) {
      if (const auto place = places.find(reads[i]); place != places.end()) {
        place->second = {n + 1, i, reads[i]};
      }
    }
  }
  std::vector<Place> order;
  for (auto& [name, place] : places) order.push_back(std::move(place));
  std::stable_sort(order.begin(), order.end(), [](const Place& a, const Place& b) {
    return a.node != b.node ? a.node > b.node : a.input < b.input;
  });

  std::size_t bytes = 0;
  for (const auto& place : order) {
    bytes += Arena::aligned(graph.initializers.at(place.name).bytes());
  }
  ParameterLayout layout{{}, make_arena(bytes), make_arena(bytes)};
  std::size_t offset = 0;
  for (const auto& place : order) {
    const Tensor& value = graph.initializers.at(place.name);
    layout.parameters.push_back({place.name, layout.values.at(offset, value.desc()),
                                 layout.gradients.at(offset, value.desc())});
    offset += Arena::aligned(value.bytes());
  }
  return layout;
}

void copy_values(const onnx::Graph& graph, std::vector<Parameter>& parameters) {
  for (Parameter& parameter : parameters) {
    parameter.value.copy_from(graph.initializers.at(parameter.name));
  }
}

Tensor as_vector(const Arena& arena, const std::vector<Parameter>& parameters) {
  const DType dtype = parameters.empty() ? DType::float32 : parameters.front().value.dtype();
  for (const auto& parameter : parameters) {
    if (parameter.value.dtype() != dtype) {
      throw TypeError(
          fmt::format("parameters '{}' and '{}' are {} and {}; go through them one by one",
                      printable(parameters.front().name), printable(parameter.name), name_of(dtype),
                      name_of(parameter.value.dtype())));
    }
  }
  return arena.at(0, {dtype, {std::int64_t(arena.bytes() / size_of(dtype))}});
}

}  // namespace d5

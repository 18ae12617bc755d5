// SPDX-License-Identifier: Apache-2.0
#include "level1_network/graph/network_state.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/onnx/schema.hpp"
#include "level1_network/graph/parameter_layout.hpp"
#include "level1_network/nodes/node_names.hpp"
#include "level1_network/nodes/node_order.hpp"

namespace d5 {
namespace {

/// Opset of networks built in code: the newest that current releases of other frameworks read.
constexpr int kOpset = 22;

}  // namespace

void Network::State::take_model(onnx::Model whole) {
  model = std::move(whole);
  const onnx::Graph& graph = model.graph;
  tensors.clear();
  for (const auto& input : graph.inputs) tensors.insert(input.name);
  for (const auto& [name, value] : graph.initializers) tensors.insert(name);
  for (const auto& node : graph.nodes) {
    for (const auto& output : node.outputs) {
      if (!output.empty()) tensors.insert(output);
    }
  }
  std::erase_if(trainable, [&](const auto& name) { return !graph.initializers.contains(name); });
}

void Network::State::define(const std::string& name) {
  if (name.empty()) throw ValueError("a tensor without a name cannot be added to a network");
  if (!tensors.insert(name).second) throw_duplicate_name("tensor", name);
}

void Network::State::expect_known(std::string_view name) const {
  if (!tensors.contains(name)) throw_unknown_name("tensor", name, {tensors.begin(), tensors.end()});
}

int Network::State::import_opset(const std::string& domain) {
  const int newest = domain.empty() ? kOpset : onnx::newest_opset(domain);
  return model.opset_imports.try_emplace(domain, newest).first->second;
}

void Network::State::admit(onnx::Node& node) {
  const auto& nodes = model.graph.nodes;
  const auto taken = [&](const std::string& name) {
    return std::ranges::find(nodes, name, &onnx::Node::name) != nodes.end();
  };
  if (node.name.empty()) {
    std::size_t number = nodes.size();
    do {
      node.name = fmt::format("{}_{}", node.op_type, number++);
    } while (taken(node.name));
  } else if (taken(node.name)) {
    throw_duplicate_name("node", node.name);
  }
  std::set<std::string> outputs;
  for (const auto& output : node.outputs) {
    if (output.empty()) continue;
    if (tensors.contains(output) || !outputs.insert(output).second) {
      throw_duplicate_name("tensor", output);
    }
  }
  if (node.opset == 0) node.opset = import_opset(node.domain);
  tensors.merge(outputs);
}

std::size_t Network::State::take_out(const std::set<std::string, std::less<>>& names) {
  onnx::Graph& graph = model.graph;
  std::set<std::string, std::less<>> found;
  for (const auto& name : names) {
    if (graph.initializers.erase(name) == 0) continue;
    trainable.erase(name);
    found.insert(name);
  }
  std::vector<onnx::Node> kept;
  std::size_t place = 0;
  bool any = false;
  for (auto& node : graph.nodes) {
    const bool removed = std::ranges::any_of(
        node.outputs, [&](const auto& o) { return !o.empty() && names.contains(o); });
    if (removed) {
      found.insert(node.outputs.begin(), node.outputs.end());
      place = kept.size();
      any = true;
    } else {
      kept.push_back(std::move(node));
    }
  }
  graph.nodes = std::move(kept);
  for (const auto& name : names) {
    if (found.contains(name)) continue;
    expect_known(name);
    throw ValueError(
        fmt::format("'{}' is an input of the network: it stays where it is", printable(name)));
  }
  for (const auto& name : found) tensors.erase(name);
  std::erase_if(graph.values, [&](const auto& value) { return found.contains(value.name); });
  return any ? place : graph.nodes.size();
}

void Network::State::expect_whole(const State& before) const {
  const auto expect = [&](const std::string& name, const auto& who) {
    if (tensors.contains(name)) return;
    if (!before.tensors.contains(name)) expect_known(name);
    throw ValueError(fmt::format(
        "'{}' cannot be removed: {} needs it; let a new node write it, or redirect its readers",
        printable(name), who()));
  };
  for (const auto& node : model.graph.nodes) {
    for (const auto& name : read_names(node)) expect(name, [&] { return onnx::describe(node); });
  }
  for (const auto& output : model.graph.outputs) {
    expect(output.name, [] { return "the network's output of that name"; });
  }
  for (const auto& [constant, output] : updates) {
    const auto who = [&] { return fmt::format("the update of '{}'", printable(constant)); };
    expect(constant, who);
    expect(output, who);
  }
}

void Network::State::rename_reads(const NewNames& names) {
  for (auto& node : model.graph.nodes) d5::rename_reads(node, names);
  for (auto& [constant, output] : updates) {
    if (const auto place = names.find(output); place != names.end()) output = place->second;
  }
}

void Network::State::finish_edit(const State& before) {
  expect_whole(before);
  model.graph.nodes = in_order(std::move(model.graph.nodes));
  edited();
}

void Network::State::lay_out(const std::function<Tensor(std::size_t bytes)>* memory) {
  if (laid_out) return;
  const std::vector<std::string> names(trainable.begin(), trainable.end());
  const auto arena = [&](std::size_t bytes) {
    return memory ? Arena((*memory)(bytes)) : Arena(bytes, device);
  };
  ParameterLayout layout = lay_out_parameters(model.graph, names, arena);
  if (!memory) copy_values(model.graph, layout.parameters);
  parameters = std::move(layout.parameters);
  values = std::move(layout.values);
  gradients = std::move(layout.gradients);
  for (const Parameter& p : parameters) model.graph.initializers.at(p.name) = p.value;
  laid_out = true;
  ++revision;  // the values moved
}

void Network::State::take_role(const onnx::Graph& graph, const std::string& name,
                               const std::string& role) {
  const auto place = graph.initializers.find(name);
  const bool parameter = role == "parameter";
  if (place == graph.initializers.end() || (!parameter && role != "constant") ||
      (parameter && !may_be_trained(place->second.dtype()))) {
    throw FormatError(fmt::format(
        "network '{}': its metadata say that '{}' is a {}; expected the name of an initializer, "
        "and constant or parameter (which is of a floating-point type)",
        printable(graph.name), printable(name), printable(role)));
  }
  if (parameter) {
    trainable.insert(name);
    notes.constants.erase(name);
  } else {
    trainable.erase(name);
    notes.constants.try_emplace(name, "constant in the network that was saved");
  }
}

}  // namespace d5

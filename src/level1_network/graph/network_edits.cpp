// SPDX-License-Identifier: Apache-2.0
// Edits of a network. An edit that may fail half-way works on a copy of the state, which shares the
// tensors. The copy replaces the state once the edit has succeeded.
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "level1_network/graph/network_state.hpp"
#include "level1_network/graph/parameter_layout.hpp"
#include "level1_network/nodes/node_names.hpp"
#include "level1_network/nodes/node_order.hpp"
#include "onnx/tensor_type.hpp"

namespace d5 {
namespace {

void expect_value(const std::string& name, const Tensor& value) {
  if (!value.defined()) {
    throw TypeError(fmt::format("tensor '{}' has no value", printable(name)));
  }
}

void expect_trainable(const std::string& name, const Tensor& value) {
  if (!may_be_trained(value.dtype())) {
    throw TypeError(
        fmt::format("parameter '{}' is {}, expected float16, bfloat16, float32 or float64",
                    printable(name), to_string(value.desc())));
  }
}

}  // namespace

void Network::add_input(const std::string& name, DType dtype, std::vector<onnx::Dim> dims) {
  state_->define(name);
  state_->model.graph.inputs.push_back({name, tensor_type(dtype, std::move(dims))});
  state_->edited();
}

void Network::add_output(const std::string& name) {
  state_->expect_known(name);
  auto& outputs = state_->model.graph.outputs;
  for (const auto& output : outputs) {
    if (output.name == name) throw_duplicate_name("output", name);
  }
  outputs.push_back({name, {}});
  state_->edited();
}

void Network::add_parameter(const std::string& name, Tensor value) {
  expect_trainable(name, value);
  add_constant(name, std::move(value));
  state_->trainable.insert(name);
}

void Network::add_constant(const std::string& name, Tensor value) {
  expect_value(name, value);
  state_->define(name);
  state_->model.graph.initializers.emplace(name, std::move(value));
  state_->edited();
}

onnx::Node& Network::add_node(const std::string& op_type, std::vector<std::string> inputs,
                              std::vector<std::string> outputs,
                              std::map<std::string, onnx::Attribute, std::less<>> attributes,
                              std::string name) {
  onnx::Node node;
  node.name = std::move(name);
  node.op_type = op_type;
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  node.attributes = std::move(attributes);
  for (const auto& read : read_names(node)) state_->expect_known(read);
  state_->admit(node);
  auto& nodes = state_->model.graph.nodes;
  nodes.push_back(std::move(node));
  state_->edited();
  return nodes.back();
}

void Network::remove_node(const std::string& name) {
  const std::vector<std::string> written = node(name).outputs;
  State next = *state_;
  onnx::Graph& graph = next.model.graph;
  graph.nodes.erase(std::ranges::find(graph.nodes, name, &onnx::Node::name));
  for (const auto& output : written) {
    next.tensors.erase(output);
    for (auto* infos : {&graph.outputs, &graph.values}) {
      std::erase_if(*infos, [&](const auto& info) { return info.name == output; });
    }
    std::erase_if(next.updates, [&](const auto& update) { return update.second == output; });
  }
  next.expect_whole(*state_);
  next.edited();
  *state_ = std::move(next);
}

void Network::replace_node(const std::string& name, onnx::Node node) {
  splice({.remove = {first_output(this->node(name))}, .nodes = {std::move(node)}});
}

void Network::insert_node(const std::string& tensor, onnx::Node node) {
  const std::string output = first_output(node);
  const auto reads = read_names(node);
  if (output.empty() || std::ranges::find(reads, tensor) == reads.end()) {
    throw ValueError(
        fmt::format("{} cannot be inserted after '{}': it must read that tensor, and write its "
                    "replacement",
                    onnx::describe(node), printable(tensor)));
  }
  State next = *state_;
  next.expect_known(tensor);
  next.admit(node);
  next.rename_reads({{tensor, output}});
  next.model.graph.nodes.push_back(std::move(node));
  next.finish_edit(*state_);
  *state_ = std::move(next);
}

void Network::redirect(const NewNames& tensors) {
  State next = *state_;
  for (const auto& [from, to] : tensors) {
    next.expect_known(from);
    next.expect_known(to);
  }
  next.rename_reads(tensors);
  next.finish_edit(*state_);
  *state_ = std::move(next);
}

void Network::rename(const std::string& tensor, const std::string& name) {
  if (tensor == name) return;
  State next = *state_;
  next.expect_known(tensor);
  next.define(name);
  next.rename_reads({{tensor, name}});
  next.tensors.erase(tensor);
  onnx::Graph& graph = next.model.graph;
  for (auto* infos : {&graph.inputs, &graph.outputs, &graph.values}) {
    for (auto& info : *infos) {
      if (info.name == tensor) info.name = name;
    }
  }
  for (auto& node : graph.nodes) std::ranges::replace(node.outputs, tensor, name);
  const auto rekey = [&](auto& map) {
    if (auto entry = map.extract(tensor)) {
      entry.key() = name;
      map.insert(std::move(entry));
    }
  };
  rekey(graph.initializers);
  rekey(next.updates);
  if (next.trainable.erase(tensor) > 0) next.trainable.insert(name);
  if (next.notes.lifted.erase(tensor) > 0) next.notes.lifted.insert(name);
  rekey(next.notes.constants);
  next.edited();
  *state_ = std::move(next);
}

void Network::splice(Splice change) {
  State next = *state_;
  const std::size_t place = next.take_out({change.remove.begin(), change.remove.end()});
  for (auto* values : {&change.constants, &change.parameters}) {
    for (auto& [name, value] : *values) {
      expect_value(name, value);
      next.define(name);
      if (values == &change.parameters) {
        expect_trainable(name, value);
        next.trainable.insert(name);
        next.notes.constants.erase(name);
      } else if (is_parameter(name)) {
        next.notes.constants[name] = "a frozen parameter";
      }
      next.model.graph.initializers.emplace(name, std::move(value));
    }
  }
  auto& nodes = next.model.graph.nodes;
  std::size_t at = place;
  for (auto& node : change.nodes) {
    next.admit(node);
    nodes.insert(nodes.begin() + std::ptrdiff_t(at++), std::move(node));
  }
  next.finish_edit(*state_);
  *state_ = std::move(next);
}

void Network::rewrite(onnx::Model model) {
  State next = *state_;
  next.take_model(std::move(model));
  next.finish_edit(*state_);
  *state_ = std::move(next);
}

void Network::add_update(const std::string& constant, const std::string& output) {
  (void)fetch(constant);
  state_->expect_known(output);
  if (is_parameter(constant)) {
    throw ValueError(fmt::format("'{}' is a parameter, which optimizers update; make it a constant",
                                 printable(constant)));
  }
  state_->updates[constant] = output;
  state_->edited();
}

}  // namespace d5

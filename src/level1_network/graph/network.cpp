// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/graph/network.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/onnx/file.hpp"
#include "level1_network/graph/network_file.hpp"
#include "level1_network/graph/network_state.hpp"
#include "level1_network/graph/parameter_layout.hpp"
#include "level1_network/graph/parameter_roles.hpp"
#include "level1_network/nodes/node_names.hpp"

namespace d5 {
namespace {

/// IR version of networks built in code: the newest that current releases of other frameworks read.
constexpr int kIrVersion = 10;

}  // namespace

Network::Network(std::string name) : state_(std::make_shared<State>()) {
  onnx::Model& model = state_->model;
  model.graph.name = std::move(name);
  model.ir_version = kIrVersion;
  model.producer_name = "d5";
  (void)state_->import_opset("");
}

Network::Network(onnx::Model model) : Network(onnx::ModelFile{std::move(model)}) {}

Network::Network(onnx::ModelFile file) : state_(std::make_shared<State>()) {
  onnx::Model model = std::move(file.model);
  const NetworkNotes notes = take_notes(model);
  ParameterRoles roles =
      assign_roles(model.graph, model.producer_name, onnx::tensor_origins(model, file.remainder));
  state_->take_model(std::move(model));
  state_->remainder = std::move(file.remainder);
  state_->trainable.insert(roles.trained.begin(), roles.trained.end());
  state_->notes = std::move(roles.notes);
  for (const auto& [name, role] : notes.roles) state_->take_role(graph(), name, role);
  for (const auto& [constant, output] : notes.updates) {
    state_->trainable.erase(constant);
    try {
      add_update(constant, output);
    } catch (const Error& error) {
      throw FormatError(
          fmt::format("network '{}': its metadata say that '{}' is overwritten with "
                      "'{}': {}",
                      printable(name()), printable(constant), printable(output), error.what()));
    }
  }
}

Network Network::copy() const {
  Network result(name());
  *result.state_ = *state_;
  for (auto& [name, value] : result.state_->model.graph.initializers) value = value.copy();
  result.state_->parameters.clear();
  result.state_->edited();  // lays parameters out again, in separate arenas
  return result;
}

const std::string& Network::name() const { return state_->model.graph.name; }
const onnx::Model& Network::model() const { return state_->model; }
const std::map<std::string, std::string>& Network::updates() const { return state_->updates; }
std::uint64_t Network::revision() const { return state_->revision; }

const onnx::Node& Network::node(std::string_view name) const {
  std::vector<std::string> known;
  for (const auto& node : graph().nodes) {
    if (node.name == name) return node;
    known.push_back(node.name);
  }
  throw_unknown_name("node", name, known);
}

const onnx::Node* Network::producer(std::string_view tensor) const {
  state_->expect_known(tensor);
  for (const auto& node : graph().nodes) {
    if (std::ranges::find(node.outputs, tensor) != node.outputs.end()) return &node;
  }
  return nullptr;
}

std::vector<const onnx::Node*> Network::consumers(std::string_view tensor) const {
  state_->expect_known(tensor);
  std::vector<const onnx::Node*> result;
  for (const auto& node : graph().nodes) {
    const auto read = read_names(node);
    if (std::ranges::find(read, tensor) != read.end()) result.push_back(&node);
  }
  return result;
}

std::string Network::unused_name(const std::string& stem) const {
  std::string name = stem;
  for (int number = 2; state_->tensors.contains(name); ++number) {
    name = fmt::format("{}_{}", stem, number);
  }
  return name;
}

std::vector<std::string> Network::input_names() const {
  std::vector<std::string> result;
  for (const auto& input : graph().inputs) {
    if (!graph().initializers.contains(input.name)) result.push_back(input.name);
  }
  return result;
}

std::vector<std::string> Network::output_names() const {
  std::vector<std::string> result;
  for (const auto& output : graph().outputs) result.push_back(output.name);
  return result;
}

std::vector<Parameter>& Network::parameters() {
  state_->lay_out();
  values_changed();
  return state_->parameters;
}

void Network::place(Device device) {
  if (device == state_->device) return;
  state_->device = device;
  state_->edited();
  state_->lay_out();
}

void Network::lay_out_in(const std::function<Tensor(std::size_t bytes)>& memory) {
  state_->laid_out = false;
  state_->lay_out(&memory);
}

Parameter& Network::parameter(std::string_view name) {
  for (auto& parameter : parameters()) {
    if (parameter.name == name) return parameter;
  }
  throw_unknown_name("parameter", name, {state_->trainable.begin(), state_->trainable.end()});
}

std::uint64_t Network::value_changes() const { return state_->value_changes; }
void Network::values_changed() { ++state_->value_changes; }

bool Network::is_parameter(std::string_view name) const { return state_->trainable.contains(name); }
const ParameterNotes& Network::parameter_notes() const { return state_->notes; }

Tensor Network::parameter_arena() {
  const auto& all = parameters();
  return as_vector(state_->values, all);
}
Tensor Network::gradient_arena() {
  const auto& all = parameters();
  return as_vector(state_->gradients, all);
}

const Tensor& Network::fetch(std::string_view name) const {
  const auto& initializers = graph().initializers;
  if (const auto place = initializers.find(name); place != initializers.end()) return place->second;
  if (const auto place = state_->fed.find(name); place != state_->fed.end()) return place->second;
  if (state_->tensors.contains(name)) {
    throw NotFound(
        fmt::format("'{}' of network '{}' has no value: it is neither a parameter nor a constant, "
                    "and was not fed",
                    printable(name), printable(this->name())));
  }
  std::vector<std::string> known;
  for (const auto& [other, value] : initializers) known.push_back(other);
  for (const auto& [other, value] : state_->fed) known.push_back(other);
  throw_unknown_name("parameter or constant", name, known);
}

void Network::feed(std::string_view name, const Tensor& value) {
  if (!graph().initializers.contains(name) && state_->tensors.contains(name)) {
    state_->fed.insert_or_assign(std::string(name), value);
    return;
  }
  const Tensor& present = fetch(name);
  if (present.desc() != value.desc()) {
    const auto message = fmt::format("'{}' is {}, but {} was fed", printable(name),
                                     to_string(present.desc()), to_string(value.desc()));
    if (present.dtype() != value.dtype()) throw TypeError(message);
    throw ShapeError(message);
  }
  const_cast<Tensor&>(present).copy_from(value);
  values_changed();
  if (!is_parameter(name) && !state_->updates.contains(std::string(name))) ++state_->revision;
}

}  // namespace d5

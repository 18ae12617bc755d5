// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "d5/core/error.hpp"
#include "d5/core/registry.hpp"
#include "d5/onnx/visitor.hpp"
#include "level1_network/network_file.hpp"
#include "level1_network/parameter_layout.hpp"

namespace d5 {
namespace {

// Opset and IR version of networks built by code: the newest that the other frameworks' current
// releases read as well.
constexpr int kOpset = 22;
constexpr int kIrVersion = 10;

}  // namespace

struct Network::State {
  onnx::Model model;
  std::set<std::string, std::less<>> tensors;  ///< every name that a node may read
  std::set<std::string, std::less<>> trainable;
  std::map<std::string, std::string> updates;
  std::vector<Parameter> parameters;
  Arena values, gradients;
  Device device = {};  ///< of the parameters
  bool laid_out = false;
  std::uint64_t revision = 0;

  void edited() {
    laid_out = false;
    ++revision;
  }
  void define(const std::string& name) {
    if (name.empty()) throw ValueError("a tensor without a name cannot be added to a network");
    if (!tensors.insert(name).second) throw_duplicate_name("tensor", name);
  }
  void expect_known(std::string_view name) const {
    if (!tensors.contains(name)) {
      throw_unknown_name("tensor", name, {tensors.begin(), tensors.end()});
    }
  }
  void lay_out() {
    if (laid_out) return;
    ParameterLayout layout =
        lay_out_parameters(model.graph, {trainable.begin(), trainable.end()}, device);
    parameters = std::move(layout.parameters);
    values = std::move(layout.values);
    gradients = std::move(layout.gradients);
    for (const Parameter& p : parameters) model.graph.initializers.at(p.name) = p.value;
    laid_out = true;
    ++revision;  // the values moved
  }
  /// A file's word on what is trained.
  void take_role(const onnx::Graph& graph, const std::string& name, const std::string& role) {
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
    } else {
      trainable.erase(name);
    }
  }
};

Network::Network(std::string name) : state_(std::make_shared<State>()) {
  onnx::Model& model = state_->model;
  model.graph.name = std::move(name);
  model.opset_imports[""] = kOpset;
  model.ir_version = kIrVersion;
  model.producer_name = "d5";
}

Network::Network(onnx::Model model) : state_(std::make_shared<State>()) {
  const onnx::Graph& graph = model.graph;
  for (const auto& input : graph.inputs) state_->tensors.insert(input.name);
  for (const auto& [name, value] : graph.initializers) state_->tensors.insert(name);
  for (const auto& node : graph.nodes) {
    for (const auto& output : node.outputs) {
      if (!output.empty()) state_->tensors.insert(output);
    }
  }
  for (std::string& name : trainable_initializers(graph)) {
    state_->trainable.insert(std::move(name));
  }
  const NetworkNotes notes = take_notes(model);
  for (const auto& [name, role] : notes.roles) state_->take_role(model.graph, name, role);
  state_->model = std::move(model);
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
  result.state_->edited();  // lays them out anew, in arenas of its own
  return result;
}

void Network::add_input(const std::string& name, DType dtype, std::vector<onnx::Dim> dims) {
  state_->define(name);
  onnx::Type type;
  type.kind = ValueKind::tensor;
  type.dtype = dtype;
  type.has_shape = true;
  type.dims = std::move(dims);
  state_->model.graph.inputs.push_back({name, std::move(type)});
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
  if (!may_be_trained(value.dtype())) {
    throw TypeError(
        fmt::format("parameter '{}' is {}, expected float16, bfloat16, float32 or float64",
                    printable(name), to_string(value.desc())));
  }
  add_constant(name, std::move(value));
  state_->trainable.insert(name);
}

void Network::add_constant(const std::string& name, Tensor value) {
  if (!value.defined()) {
    throw TypeError(fmt::format("tensor '{}' has no value", printable(name)));
  }
  state_->define(name);
  state_->model.graph.initializers.emplace(name, std::move(value));
  state_->edited();
}

onnx::Node& Network::add_node(const std::string& op_type, std::vector<std::string> inputs,
                              std::vector<std::string> outputs,
                              std::map<std::string, onnx::Attribute, std::less<>> attributes,
                              std::string name) {
  auto& graph = state_->model.graph;
  onnx::Node node;
  node.op_type = op_type;
  node.opset = state_->model.opset_imports.try_emplace("", kOpset).first->second;
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  node.attributes = std::move(attributes);
  const auto taken = [&](const std::string& candidate) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                       [&](const onnx::Node& other) { return other.name == candidate; });
  };
  if (name.empty()) {
    std::size_t number = graph.nodes.size();
    do {
      name = fmt::format("{}_{}", op_type, number++);
    } while (taken(name));
  } else if (taken(name)) {
    throw_duplicate_name("node", name);
  }
  node.name = std::move(name);

  for (const auto& input : node.inputs) {
    if (!input.empty()) state_->expect_known(input);
  }
  for (const auto& [attribute, subgraph] : onnx::subgraphs(node)) {
    for (const auto& captured : onnx::captured_names(*subgraph)) state_->expect_known(captured);
  }
  for (const auto& output : node.outputs) {
    if (!output.empty()) state_->define(output);
  }
  graph.nodes.push_back(std::move(node));
  state_->edited();
  return graph.nodes.back();
}

void Network::remove_node(const std::string& name) {
  auto& nodes = state_->model.graph.nodes;
  const auto place = std::find_if(nodes.begin(), nodes.end(),
                                  [&](const onnx::Node& node) { return node.name == name; });
  if (place == nodes.end()) (void)node(name);  // throws
  for (const auto& output : place->outputs) {
    for (const auto& other : nodes) {
      const auto reads = read_names(other);
      if (!output.empty() && std::find(reads.begin(), reads.end(), output) != reads.end()) {
        throw ValueError(fmt::format("{} cannot be removed: {} reads '{}'", onnx::describe(*place),
                                     onnx::describe(other), printable(output)));
      }
    }
    state_->tensors.erase(output);
    std::erase_if(state_->model.graph.outputs, [&](const auto& o) { return o.name == output; });
    std::erase_if(state_->updates, [&](const auto& update) { return update.second == output; });
  }
  nodes.erase(place);
  state_->edited();
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
  return state_->parameters;
}

void Network::place(Device device) {
  if (device == state_->device) return;
  state_->device = device;
  state_->edited();
  state_->lay_out();
}

Parameter& Network::parameter(std::string_view name) {
  for (auto& parameter : parameters()) {
    if (parameter.name == name) return parameter;
  }
  throw_unknown_name("parameter", name, {state_->trainable.begin(), state_->trainable.end()});
}

bool Network::is_parameter(std::string_view name) const { return state_->trainable.contains(name); }

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
  std::vector<std::string> known;
  for (const auto& [other, value] : initializers) known.push_back(other);
  throw_unknown_name("parameter or constant", name, known);
}

void Network::feed(std::string_view name, const Tensor& value) {
  const Tensor& present = fetch(name);
  if (present.desc() != value.desc()) {
    const auto message = fmt::format("'{}' is {}, but {} was fed", printable(name),
                                     to_string(present.desc()), to_string(value.desc()));
    if (present.dtype() != value.dtype()) throw TypeError(message);
    throw ShapeError(message);
  }
  const_cast<Tensor&>(present).copy_from(value);
  if (!is_parameter(name) && !state_->updates.contains(std::string(name))) ++state_->revision;
}

}  // namespace d5

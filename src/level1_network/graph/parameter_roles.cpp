// SPDX-License-Identifier: Apache-2.0
#include "level1_network/graph/parameter_roles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "d5/onnx/visitor.hpp"
#include "level1_network/graph/differentiated_inputs.hpp"
#include "level1_network/graph/held_weights.hpp"
#include "level1_network/graph/parameter_layout.hpp"
#include "level1_network/graph/parameter_places.hpp"
#include "level1_network/nodes/node_names.hpp"

namespace d5 {
namespace {

using Names = TensorNames;
using Tensors = std::map<std::string, Tensor, std::less<>>;

constexpr const char* kOfGroups =
    "of an InstanceNormalization that stands for a GroupNormalization";

/// One reader of a constant tensor, or of a value computed from constants alone.
struct Reader {
  const onnx::Node* node;
  std::size_t input;
  bool is_first = false;  ///< the other operand is an input of the network
};

/// Maps each constant of a graph to the nodes that use it, seen through nodes that read only
/// constants: Identity, Cast, Transpose, Reshape, a weight's own norm.
class ConstantReaders {
 public:
  explicit ConstantReaders(const onnx::Graph& graph, const Tensors& constants) {
    Roots roots;
    for (const auto& [name, value] : constants) {
      roots[name] = may_be_trained(value.dtype()) ? Names{name} : Names{};
    }
    for (const auto& input : graph.inputs) inputs_.insert(input.name);
    walk(graph, std::move(roots));
  }

  [[nodiscard]] const std::vector<Reader>& of(const std::string& name) const {
    static const std::vector<Reader> none;
    const auto place = readers_.find(name);
    return place == readers_.end() ? none : place->second;
  }

 private:
  /// Trainable constants from which a tensor is computed.
  using Roots = std::map<std::string, Names, std::less<>>;

  void walk(const onnx::Graph& graph, Roots roots) {
    for (const auto& [name, value] : graph.initializers) roots.try_emplace(name);
    for (const auto& node : graph.nodes) {
      const auto held = onnx::subgraphs(node);
      const DifferentiatedInputs differentiated(node);
      if (is_constant(node, roots) && held.empty()) {
        Names made_of;
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
          if (node.has_input(i) && differentiated.contains(i) && !scales_integers(node)) {
            made_of.insert(roots[node.inputs[i]].begin(), roots[node.inputs[i]].end());
          }
        }
        for (const auto& output : node.outputs) roots.try_emplace(output, made_of);
        continue;
      }
      const bool first = std::ranges::any_of(
          node.inputs, [&](const auto& name) { return inputs_.contains(name); });
      if (first && moves(node, roots)) inputs_.insert(node.outputs.begin(), node.outputs.end());
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const auto place = roots.find(node.inputs[i]);
        if (place == roots.end() || !differentiated.contains(i)) continue;
        for (const auto& root : place->second) readers_[root].push_back({&node, i, first});
      }
      if (!differentiated.contains(node.inputs.size())) continue;
      for (const auto& [attribute, graph_of_node] : held) walk(*graph_of_node, roots);
    }
  }

  static bool is_constant(const onnx::Node& node, const Roots& roots) {
    return std::ranges::all_of(
               node.inputs,
               [&](const auto& name) { return name.empty() || roots.contains(name); }) &&
           (!node.inputs.empty() || node.op_type == "Constant");
  }

  /// Whether the node rescales an input of the network, as is usual before the first layer.
  [[nodiscard]] bool moves(const onnx::Node& node, const Roots& roots) const {
    static const Names scaling{"Add", "Sub", "Mul", "Div", "Cast", "Identity"};
    return node.domain.empty() && scaling.contains(node.op_type) &&
           std::ranges::all_of(node.inputs, [&](const auto& name) {
             return inputs_.contains(name) || roots.contains(name);
           });
  }

  /// Scales of integer weights are calibrated, not trained.
  static bool scales_integers(const onnx::Node& node) {
    return node.op_type == "DequantizeLinear" || node.op_type == "QuantizeLinear";
  }

  Names inputs_;  ///< inputs of the network, and rescaled ones
  std::map<std::string, std::vector<Reader>, std::less<>> readers_;
};

/// An InstanceNormalization between two Reshapes, the form in which exporters write a
/// GroupNormalization. Its scale and bias follow it.
bool is_group_normalization(const onnx::Node& node, const onnx::Graph& graph) {
  if (!node.domain.empty() || node.op_type != "InstanceNormalization") return false;
  const auto is_reshape = [](const onnx::Node& one) { return one.op_type == "Reshape"; };
  bool behind = false, read = false;
  for (const auto& one : graph.nodes) {
    if (std::ranges::find(one.outputs, node.inputs[0]) != one.outputs.end()) {
      behind = is_reshape(one);
    }
    if (std::ranges::find(one.inputs, node.outputs[0]) == one.inputs.end()) continue;
    if (!is_reshape(one)) return false;
    read = true;
  }
  return behind && read;
}

class RoleAssignment {
 public:
  RoleAssignment(onnx::Graph& graph, const std::string& producer,
                 const onnx::TensorOrigins& origins, const std::vector<std::string>& held)
      : graph_(graph), producer_(producer), origins_(origins), held_(held.begin(), held.end()) {}

  ParameterRoles run() {
    Tensors constants = constants_of(graph_);
    for (const auto& output : graph_.outputs) constants.erase(output.name);
    Tensors all = graph_.initializers;
    all.insert(constants.begin(), constants.end());
    const ConstantReaders readers(graph_, all);
    for (const auto& name : trainable_initializers(graph_)) {
      if (held_.contains(name)) continue;
      const auto why = why_constant(name, readers);
      if (!why.empty()) {
        roles_.notes.constants[name] = why;
        continue;
      }
      roles_.trained.push_back(name);
      has_own_ |= is_weight(graph_.initializers.at(name), readers.of(name));
    }
    for (const auto& name : held_) lift(name, graph_.initializers.at(name), readers);
    for (const auto& [name, value] : constants) lift(name, value, readers);
    if (roles_.trained.empty()) {
      for (const auto& [name, value] : of_inputs_) take(name, value);
    }
    note_integers(all);
    std::erase_if(graph_.nodes, [&](const onnx::Node& node) {
      return node.op_type == "Constant" && initializers_.contains(first_output(node));
    });
    return std::move(roles_);
  }

 private:
  static bool is_weight(const Tensor& value, const std::vector<Reader>& readers) {
    return std::ranges::any_of(readers, [&](const Reader& reader) {
      const auto place = parameter_place(*reader.node, reader.input, value);
      return place != ParameterPlace::none && place != ParameterPlace::term;
    });
  }

  /// The reason why an initializer in a trainable place is constant; empty if it is a parameter.
  std::string why_constant(const std::string& name, const ConstantReaders& readers) const {
    const auto origin = origins_.find(name);
    if (origin != origins_.end() && origin->second == onnx::TensorOrigin::parameter) return "";
    if (origin != origins_.end()) {
      return origin->second == onnx::TensorOrigin::buffer
                 ? "a buffer of the module that was exported"
                 : "a number of the code that was exported";
    }
    return stands_for_groups(graph_.initializers.at(name), readers.of(name)) ? kOfGroups : "";
  }

  [[nodiscard]] bool stands_for_groups(const Tensor& value,
                                       const std::vector<Reader>& readers) const {
    return !readers.empty() && std::ranges::all_of(readers, [&](const Reader& reader) {
      return is_group_normalization(*reader.node, graph_) &&
             is_filled_with(value, reader.input == 1 ? 1 : 0);
    });
  }

  /// Decides on a tensor held by a Constant or by a nested graph.
  void lift(const std::string& name, const Tensor& value, const ConstantReaders& readers) {
    if (!may_be_trained(value.dtype()) || value.elements() == 0) return;
    const bool is_code = has_own_ && producer_ == "pytorch" && !held_.contains(name);
    if (is_code) return;
    const auto& all = readers.of(name);
    if (!has_own_ && stands_for_groups(value, all)) {
      roles_.notes.constants[name] = kOfGroups;
      make_initializer(name, value);
      return;
    }
    bool wanted = false, of_input = false;
    for (const Reader& reader : all) {
      switch (parameter_place(*reader.node, reader.input, value)) {
        case ParameterPlace::weight:
          wanted = true;
          break;
        case ParameterPlace::scale:
          wanted |= !has_own_ || !is_filled_with(value, 1);
          break;
        case ParameterPlace::shift:
          wanted |= !has_own_ || !is_filled_with(value, 0);
          break;
        case ParameterPlace::term:
          if (!is_term(reader, value)) break;
          (reader.is_first ? of_input : wanted) = true;
          break;
        case ParameterPlace::none:
          break;
      }
    }
    if (wanted) take(name, value);
    if (of_input && !wanted) of_inputs_.emplace(name, value);
  }

  /// Whether an added or multiplied tensor is a parameter, in a file that stores weights as
  /// Constants: a tensor of several elements, or the bias of a layer with one output.
  [[nodiscard]] bool is_term(const Reader& reader, const Tensor& value) const {
    if (has_own_ || is_mask(value)) return false;
    if (reader.node->op_type == "Concat") {
      return value.elements() > 1 && !is_filled_with(value, 0) && !is_filled_with(value, 1);
    }
    if (value.elements() > 1) return true;
    if (value.shape().rank() == 0 || reader.node->op_type != "Add") return false;
    return std::ranges::any_of(graph_.nodes, [&](const onnx::Node& node) {
      return takes_a_bias(node) && node.outputs[0] == reader.node->inputs[1 - reader.input];
    });
  }

  void take(const std::string& name, const Tensor& value) {
    make_initializer(name, value);
    roles_.trained.push_back(name);
    roles_.notes.lifted.insert(name);
  }

  void make_initializer(const std::string& name, const Tensor& value) {
    graph_.initializers.try_emplace(name, value);
    initializers_.insert(name);
  }

  /// Records integer weights that are followed by a DequantizeLinear.
  void note_integers(const Tensors& all) {
    for (const auto& node : graph_.nodes) {
      if (node.op_type != "DequantizeLinear" || !node.has_input(0)) continue;
      const auto place = all.find(node.inputs[0]);
      if (place == all.end() || place->second.shape().rank() == 0) continue;
      roles_.notes.constants[node.inputs[0]] =
          fmt::format("{} behind {}", name_of(place->second.dtype()), onnx::describe(node));
    }
  }

  onnx::Graph& graph_;
  const std::string& producer_;
  const onnx::TensorOrigins& origins_;
  ParameterRoles roles_;
  Names held_;            ///< came out of graphs that nodes hold
  Names initializers_;    ///< initializers that came from Constants
  Tensors of_inputs_;     ///< scale or move an input of the network: parameters if nothing else is
  bool has_own_ = false;  ///< weights among the initializers
};

}  // namespace

std::vector<std::string> trainable_initializers(const onnx::Graph& graph) {
  Names candidates;
  for (const auto& [name, tensor] : graph.initializers) {
    if (may_be_trained(tensor.dtype())) candidates.insert(name);
  }
  const Names result = differentiated_among(graph, candidates);
  return {result.begin(), result.end()};
}

ParameterRoles assign_roles(onnx::Graph& graph, const std::string& producer,
                            const onnx::TensorOrigins& origins) {
  const auto holds_graphs = [](const onnx::Node& node) { return !onnx::subgraphs(node).empty(); };
  if (std::ranges::none_of(graph.nodes, holds_graphs)) {
    return RoleAssignment(graph, producer, origins, {}).run();
  }
  const onnx::Graph before = graph;  // shares its tensors
  auto held = hoist_weights(graph);
  auto roles = RoleAssignment(graph, producer, origins, held).run();
  std::vector<bool> wanted;
  for (const auto& name : held) {
    wanted.push_back(roles.notes.lifted.contains(name) || roles.notes.constants.contains(name));
  }
  if (std::ranges::find(wanted, false) == wanted.end()) return roles;
  // A constant that is not a parameter stays in its graph, so that nodes without captures can run
  // alone.
  graph = before;
  held = hoist_weights(graph, &wanted);
  return RoleAssignment(graph, producer, origins, held).run();
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
// Merges nodes that compute the same value, and equal constants.
#include <fmt/format.h>

#include <algorithm>

#include "d5/level1_network/graph/transform.hpp"
#include "d5/onnx/schema.hpp"
#include "d5/onnx/visitor.hpp"
#include "level1_network/graph/graph_links.hpp"
#include "level1_network/nodes/identical.hpp"
#include "level1_network/nodes/node_names.hpp"
#include "level1_network/nodes/random_nodes.hpp"

namespace d5::transform {
namespace {

/// Only operators of ONNX are known to be functions. Dropout draws random numbers in every opset.
bool is_function(const onnx::Node& node) {
  return onnx::schema_of(node).has_value() && onnx::subgraphs(node).empty() &&
         !draws_random_numbers(node) && node.op_type != "Dropout" && !first_output(node).empty();
}

/// Equal for nodes that may compute the same.
std::string signature(const onnx::Node& node, const std::vector<std::string>& inputs) {
  std::string text = fmt::format("{}\n{}\n{}\n", node.domain, node.op_type, node.opset);
  for (const auto& input : inputs) text += fmt::format("{} {}\n", input.size(), input);
  for (const auto& output : node.outputs) text += output.empty() ? '-' : '+';
  return text;
}

class CommonSubexpressions final : public Transform {
 public:
  bool enters_graphs() const override { return true; }
  TransformReport apply(Network& network) const override {
    NewNames instead = same_constants(network);
    std::set<std::string> constants;
    for (const auto& [name, other] : instead) constants.insert(name);
    network.redirect(instead);
    remove_unread_values(network, constants);

    std::size_t nodes = 0;
    bypass(network, same_nodes(network, nodes));
    if (nodes == 0 && constants.empty()) return {};
    return {fmt::format("merged {} nodes and {} constants into others", nodes, constants.size())};
  }

 private:
  /// Parameters are not merged, as each is trained separately.
  static NewNames same_constants(const Network& network) {
    NewNames instead;
    std::map<std::string, std::vector<std::pair<std::string, Tensor>>> kept;  // keyed by type and
                                                                              // shape
    for (const auto& [name, value] : network.graph().initializers) {
      if (!fixed_value(network, name)) continue;
      const Tensor here = value.on_host();
      auto& others = kept[to_string(here.desc())];
      const auto same = std::ranges::find_if(
          others, [&](const auto& other) { return identical(other.second, here); });
      if (same != others.end()) {
        instead[name] = same->first;
      } else {
        others.emplace_back(name, here);
      }
    }
    return instead;
  }

  static NewNames same_nodes(const Network& network, std::size_t& merged) {
    NewNames instead;
    std::map<std::string, std::vector<const onnx::Node*>> kept;
    for (const auto& node : network.graph().nodes) {
      if (!is_function(node)) continue;
      std::vector<std::string> inputs = node.inputs;
      for (auto& input : inputs) {
        if (const auto place = instead.find(input); place != instead.end()) input = place->second;
      }
      auto& others = kept[signature(node, inputs)];
      const auto same = std::ranges::find_if(
          others, [&](const auto* other) { return identical_attributes(*other, node); });
      if (same == others.end()) {
        others.push_back(&node);
        continue;
      }
      ++merged;
      for (std::size_t k = 0; k < node.outputs.size(); ++k) {
        if (node.has_output(k)) instead[node.outputs[k]] = (*same)->outputs[k];
      }
    }
    return instead;
  }
};

}  // namespace

void register_subexpressions(Registry<TransformEntry>& registry) {
  registry.add("common-subexpressions",
               TransformEntry::of<CommonSubexpressions>(
                   "common subexpression elimination: merges nodes that compute the same"));
}

}  // namespace d5::transform

// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan/computed_values.hpp"

#include <map>
#include <optional>
#include <string>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/onnx/visitor.hpp"
#include "level1_network/graph/graph_links.hpp"
#include "level1_network/nodes/node_names.hpp"
#include "level1_network/plan/constant_folding.hpp"

namespace d5 {
namespace {

using Known = std::map<std::string, Value, std::less<>>;

/// Empty if an input is unknown, or the node cannot be computed at this point.
std::optional<std::vector<Value>> computed(const onnx::Node& node, const Known& known,
                                           const RunState& state) {
  std::vector<const Value*> inputs;
  for (const auto& name : node.inputs) {
    const auto place = known.find(name);
    if (place == known.end() && !name.empty()) return std::nullopt;
    inputs.push_back(name.empty() ? nullptr : &place->second);
  }
  try {
    return fold(node, *operator_for(node), inputs, state.frameworks_for(node).all(), state);
  } catch (const Error&) {  // an unknown operator: running it reports the error
    return std::nullopt;
  }
}

}  // namespace

void for_each_computed(const Network& network, const TakesComputed& take) {
  Known known;
  for (const auto& [name, value] : network.graph().initializers) {
    if (const Tensor* fixed = fixed_value(network, name)) known[name] = fixed->on_host();
  }
  RunState state;
  state.frameworks.preferred = {&framework("reference").part<OperatorRegistry>()};
  for (const auto& node : network.graph().nodes) {
    if (!onnx::subgraphs(node).empty() || first_output(node).empty()) continue;
    const auto values = computed(node, known, state);
    if (!values || !take(node, *values)) continue;
    for (std::size_t k = 0; k < values->size(); ++k) {
      if (node.has_output(k)) known[node.outputs[k]] = (*values)[k];
    }
  }
}

}  // namespace d5

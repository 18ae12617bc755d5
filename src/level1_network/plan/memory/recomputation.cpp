// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan/memory/recomputation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "level1_network/nodes/random_nodes.hpp"
#include "level1_network/plan/memory/recomputation_search.hpp"

namespace d5 {
namespace {

using Step = Draft::Step;

/// Whether the step reads constants that runs update, perhaps before the backward pass reads them.
bool reads_updates(const Draft& draft, const Step& step) {
  return std::ranges::any_of(step.inputs, [&](const Draft::Slot* slot) {
    return slot && slot->origin == Draft::Origin::variable && draft.updates.contains(slot->name);
  });
}

/// Whether a second run writes the same values to the planned place.
bool repeats(const Draft& draft, const Step& step) {
  if (step.dynamic || step.transfers || !step.graphs.empty()) return false;
  if (draws_random_numbers(*step.node)) return false;
  return draft.loss || !reads_updates(draft, step);
}

bool is_in_layer(const std::string& node, const std::string& layer) {
  if (!node.starts_with(layer)) return false;
  return node.size() == layer.size() || node[layer.size()] == '.' || node[layer.size()] == '/';
}

void mark_named(Draft& draft, const std::string& name) {
  const auto& nodes = draft.request.graph->nodes;
  if (std::ranges::none_of(nodes, [&](const auto& node) { return is_in_layer(node.name, name); })) {
    std::vector<std::string> known;
    for (const onnx::Node& node : nodes) known.push_back(node.name);
    throw_unknown_name("node or layer to recompute", name, known);
  }
  for (Step& step : draft.steps) {
    if (is_in_layer(step.node->name, name) && repeats(draft, step)) step.recomputed = true;
  }
}

}  // namespace

void choose_recomputation(Draft& draft) {
  const auto& names = draft.request.recompute;
  if (!draft.goes_back() || names.empty()) return;
  if (names.size() == 1 && names.front() == "auto") {
    if (draft.state.memory_limit == 0) {
      throw ValueError(
          fmt::format("recompute: 'auto' recomputes as much as a memory limit needs; set "
                      "memory_limit ({}), or name nodes or layers",
                      option_word("memory")));
    }
    std::vector<Step*> repeatable;
    for (Step& step : draft.steps) {
      if (repeats(draft, step)) repeatable.push_back(&step);
    }
    search_recomputation(draft, repeatable);
    return;
  }
  for (const auto& name : names) {
    if (name == "auto")
      throw ValueError("recompute: 'auto' chooses by itself; name no nodes with it");
    mark_named(draft, name);
  }
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "d5/core/entries/entry_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/transform_doubt.hpp"
#include "level1_network/graph/nested_transform.hpp"
#include "level1_network/graph/transform_steps.hpp"
#include "level1_network/trials/transform_trial.hpp"

namespace d5 {
namespace {

/// Replaces the transformed `network` by `before`.
void restore(Network& network, const Network& before) {
  network.rewrite(before.model());
  Splice roles;
  for (const auto& [name, value] : before.graph().initializers) {
    if (before.is_parameter(name) == network.is_parameter(name)) continue;
    roles.remove.push_back(name);
    (before.is_parameter(name) ? roles.parameters : roles.constants)[name] = value;
  }
  if (!roles.remove.empty()) network.splice(std::move(roles));
}

/// Applies one step to `network`, or leaves it unchanged if the step changes its outputs.
AppliedTransform apply_step(Network& network, const EntryChoice& choice, const Transform& step,
                            const Settings& wishes) {
  AppliedTransform applied{.transform = to_words(choice),
                           .nodes_before = network.graph().nodes.size(),
                           .nodes_after = 0,
                           .report = {}};
  std::string doubt = detail::trial_obstacle(network, step.keeps(), wishes);
  std::optional<Network> before;
  if (doubt.empty()) before = network.copy();
  const auto revision = network.revision(), values = network.value_changes();
  applied.report = apply_throughout(step, network);
  applied.nodes_after = network.graph().nodes.size();
  if (network.revision() == revision && network.value_changes() == values) return applied;
  if (before) {
    try {
      doubt = detail::judge_transform(applied.transform, step.keeps(), *before, network, wishes);
    } catch (const ContractError&) {
      restore(network, *before);
      throw;
    }
  }
  if (doubt.empty()) return applied;
  applied.report.left.push_back("not judged: " + doubt);
  add_doubt(network, fmt::format("transform '{}' was not judged: {}", applied.transform, doubt));
  return applied;
}

}  // namespace

std::vector<AppliedTransform> apply_transforms(Network& network, const TransformChain& chain,
                                               const Settings& wishes) {
  const auto steps = detail::transform_steps(chain, wishes, network);
  std::vector<AppliedTransform> applied;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    applied.push_back(apply_step(network, chain[i], *steps[i], wishes));
  }
  return applied;
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "level1_network/mixture/fused_network.hpp"

#include <algorithm>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "level1_network/graph/transform_steps.hpp"

namespace d5 {

std::optional<Network> fused_network(const Network& network, NetworkMode mode) {
  GraphInMode run = graph_in_mode(network, mode);
  if (!run.updates.empty()) return std::nullopt;
  onnx::Model model = network.model();
  model.graph = std::move(run.graph);
  Network fused(std::move(model));
  try {
    const auto applied = detail::apply_unjudged(fused, {{"fold-batch-norm"}, {"fuse-activation"}});
    const bool changed = std::ranges::any_of(
        applied, [](const AppliedTransform& one) { return !one.report.what.empty(); });
    return changed ? std::optional(std::move(fused)) : std::nullopt;
  } catch (const Unsupported&) {
    return std::nullopt;
  }
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "level1_network/mixture/plan_trial.hpp"

namespace d5 {

/// Group of each of the trial's nodes. Nodes of a group compute the same on values of the same
/// types and shapes, so that one measurement holds for all.
[[nodiscard]] std::vector<std::size_t> node_groups(PlanTrial& trial, const onnx::Graph& graph);

/// Marks nodes that draw random numbers or depend on such nodes: their values may differ.
[[nodiscard]] std::vector<bool> random_nodes(const PlanTrial& trial);

}  // namespace d5

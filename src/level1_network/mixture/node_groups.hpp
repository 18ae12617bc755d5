// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "level1_network/mixture/plan_trial.hpp"

namespace d5 {

/// The group of each of the trial's nodes: those of one group compute the same on values of the
/// same types and shapes, so that what is measured of one is true of all.
[[nodiscard]] std::vector<std::size_t> node_groups(PlanTrial& trial, const onnx::Graph& graph);

/// Which nodes draw random numbers, or read what was made of them: their values differ by right.
[[nodiscard]] std::vector<bool> random_nodes(const PlanTrial& trial);

}  // namespace d5

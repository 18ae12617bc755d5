// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/level1_network/mixture/framework_selection.hpp"
#include "level1_network/mixture/plan_trial.hpp"

namespace d5 {

/// The fastest plan found, and how it was found.
struct ChosenPlan {
  KernelAssignment assignment;
  std::unique_ptr<Plan> plan;
  FrameworkSelection selection;
};

/// Measures every kernel in place, finds the mixture of least cost, runs it, learns the cost of
/// changes between frameworks, and repeats while it finds new mixtures. Finally the mixtures are
/// timed against each single framework, interleaved. A mixture is chosen if it is faster than the
/// best of these by more than noise.
/// Throws: as `compile` if no framework can run the network; Interrupted.
[[nodiscard]] ChosenPlan search_mixture(const TrialBench& bench, double most_seconds);

}  // namespace d5

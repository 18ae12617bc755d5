// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

namespace d5 {

/// Makes an executor with random numbers from a seed.
using OpenExecutor = std::function<std::shared_ptr<GraphExecutor>(Network, std::uint64_t seed)>;

/// Tests a network that draws random numbers by their distribution.
///
/// Runs it for about 20,000 draws, with different numbers each time: if a node has an attribute
/// `seed`, with another seed. One record per random node compares its draws with the distribution
/// given by its attributes and inputs (`places_of_draws`); its number is the Kolmogorov distance.
/// One record per dependent output compares it with the reference's on the same draws.
///
/// Random nodes in nested graphs are not seen: then there is no record.
/// Throws: what opening and running throw; Interrupted.
[[nodiscard]] std::vector<Measurement> test_draws(const Measurement& base, const Network& network,
                                                  const ValueMap& inputs, const OpenExecutor& open,
                                                  ForwardTolerance tolerance,
                                                  const Interrupt& interrupt);

}  // namespace d5

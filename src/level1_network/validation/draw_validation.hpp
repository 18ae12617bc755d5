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

/// Makes an executor whose random numbers are those of a seed.
using OpenExecutor = std::function<std::shared_ptr<GraphExecutor>(Network, std::uint64_t seed)>;

/// Judges a network that draws random numbers by their distribution.
///
/// It runs about 20,000 draws' worth of times, with other numbers each time: where a node has an
/// attribute `seed`, with another seed. One record a node that draws, of what its attributes and
/// inputs say (`places_of_draws`), its number Kolmogorov's distance; and one for each output that
/// follows from what was drawn, compared with what the reference makes of the same draws.
///
/// Nodes in nested graphs draw unseen: then there is no record.
/// Throws: what opening and running throw; Interrupted.
[[nodiscard]] std::vector<Measurement> test_draws(const Measurement& base, const Network& network,
                                                  const ValueMap& inputs, const OpenExecutor& open,
                                                  ForwardTolerance tolerance,
                                                  const Interrupt& interrupt);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

namespace d5 {

struct NumericGradientOptions {
  std::int64_t elements = 8;  ///< of each parameter, drawn at random; of smaller ones all
  std::uint64_t seed = 0;
};

/// Whether an executor's gradients are those of the function that it computes: the network is run
/// in float64 in the executor's frameworks, and some elements of each parameter's gradient are held
/// against (loss(w + h) - loss(w - h)) / 2h. One record a parameter, "gradient of w": the largest
/// error, relative to the gradient's largest number.
///
/// An element passes within 1e-6 of that number and what rounding of the loss can do. Where the
/// loss has a kink every number between the slopes to either side is right; the condition "kinks"
/// counts such elements. Records of a network that draws random numbers, or that has no kernels for
/// float64, are skipped with the reason.
///
/// Throws: Interrupted; every other error is a record.
/// Source: Nocedal and Wright, Numerical Optimization (2006), 8.1.
[[nodiscard]] std::vector<Measurement> test_numeric_gradients(
    GraphExecutor& executor, const ValueMap& inputs, std::string_view loss,
    const NumericGradientOptions& options = {}, const Interrupt& interrupt = {});

}  // namespace d5

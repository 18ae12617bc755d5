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
  std::int64_t elements = 8;  ///< per parameter, drawn at random; all of a smaller one
  std::uint64_t seed = 0;
};

/// Compares an executor's gradients with central differences. The network runs in float64 in the
/// executor's frameworks, and some elements of each parameter's gradient are compared with (loss(w
/// + h) - loss(w - h)) / 2h. One record per parameter, "gradient of w": the largest error, relative
/// to the gradient's largest number.
///
/// An element passes if its error is within 1e-6 of that number plus the rounding error of the
/// loss. At a kink of the loss every number between the one-sided slopes is right; the condition
/// "kinks" counts such elements. Networks that draw random numbers, or have no kernels for float64,
/// have skipped records with the reason.
///
/// Throws: Interrupted; every other error is a record.
/// Source: Nocedal and Wright, Numerical Optimization (2006), 8.1.
[[nodiscard]] std::vector<Measurement> test_numeric_gradients(
    GraphExecutor& executor, const ValueMap& inputs, std::string_view loss,
    const NumericGradientOptions& options = {}, const Interrupt& interrupt = {});

}  // namespace d5

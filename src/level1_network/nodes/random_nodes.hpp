// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/onnx/model.hpp"
#include "level0_ops/operator/drawn_values.hpp"

namespace d5 {

/// Whether a node of `graph`, or of a graph in it, draws random numbers.
[[nodiscard]] bool draws_random_numbers(const onnx::Graph& graph);

}  // namespace d5

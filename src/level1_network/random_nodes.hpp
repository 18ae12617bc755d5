// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/onnx/model.hpp"

namespace d5 {

/// Whether a node draws random numbers, which another generator does not draw.
[[nodiscard]] bool draws_random_numbers(const onnx::Node& node);
/// Whether a node of `graph`, or of a graph in it, does.
[[nodiscard]] bool draws_random_numbers(const onnx::Graph& graph);

}  // namespace d5

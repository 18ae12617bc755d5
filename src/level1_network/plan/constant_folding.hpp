// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "level1_network/plan/run_state.hpp"

namespace d5 {

/// Constant folding: computes the outputs of a node with constant inputs while compiling, by the
/// first of `frameworks` that can, so that shapes which depend on them are known. They count
/// against the memory budget while they live. Empty if the node draws random numbers, fails
/// (running it reports the error), or exceeds the rest of the budget.
[[nodiscard]] std::optional<std::vector<Value>> fold(
    const onnx::Node& node, const Operator& op, std::span<const Value* const> inputs,
    const std::vector<const OperatorRegistry*>& frameworks, const RunState& state);

}  // namespace d5

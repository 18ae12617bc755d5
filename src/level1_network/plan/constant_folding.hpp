// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "level1_network/plan/run_state.hpp"

namespace d5 {

/// The outputs of a node whose inputs are all constant, computed once, while compiling, by the
/// first of `frameworks` that can, so that shapes which depend on them are known. They count
/// against the memory budget as long as they live. Nothing if the node draws random numbers, fails
/// (it will fail again, and say so, when it is run), or makes more than the budget has left.
[[nodiscard]] std::optional<std::vector<Value>> fold(
    const onnx::Node& node, const Operator& op, std::span<const Value* const> inputs,
    const std::vector<const OperatorRegistry*>& frameworks, const RunState& state);

}  // namespace d5

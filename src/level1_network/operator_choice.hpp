// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "level1_network/run_state.hpp"

namespace d5 {

/// The operator of the framework among `candidates` that runs `node` forward in the least time on
/// inputs like `inputs` (zeros where a value is not constant). Null if none supports it, or runs.
/// Throws: nothing of what a candidate throws; one that fails is passed over.
[[nodiscard]] std::unique_ptr<Operator> fastest_operator(
    const onnx::Node& node, std::span<const ValueDesc> inputs,
    std::span<const Value* const> constants, std::span<const OperatorRegistry* const> candidates);

}  // namespace d5

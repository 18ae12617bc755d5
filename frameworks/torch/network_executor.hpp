// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

namespace d5::torch {

/// Torch's own executor of whole networks: its functions in sequence, and its autograd for
/// backward. Parameters, inputs and constants are torch tensors over d5's memory.
/// Throws: Unsupported if `operators` lacks one of the network's, with the first.
[[nodiscard]] std::unique_ptr<GraphExecutor> make_network_executor(
    Network network, const ExecutorOptions& options, const OperatorRegistry& operators);

}  // namespace d5::torch

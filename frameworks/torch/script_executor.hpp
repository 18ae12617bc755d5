// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/level0_ops/operator_registry.hpp"
#include "d5/level1_network/graph_executor.hpp"

namespace d5::torch {

/// Whole networks as frozen TorchScript graphs, one for the shapes of the last run; for inference
/// alone. Observers hear of runs, of no nodes. `operators` outlives it.
[[nodiscard]] std::unique_ptr<GraphExecutor> make_script_executor(
    Network network, const ExecutorOptions& options, const OperatorRegistry& operators);

}  // namespace d5::torch

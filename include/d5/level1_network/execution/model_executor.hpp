// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "d5/level0_ops/operator/compiled_model.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

namespace d5 {

/// An executor that hands whole networks to a framework, which compiles and runs them.
///
/// Compiles once for each set of input shapes, mode, loss and number of threads, keeps the last few
/// results, and compiles again after edits of the network. For inference, parameters are compiled
/// in as constants, and a change of their values compiles again. For backpropagation, parameters
/// are inputs that follow the network's own, and their gradients are the outputs that `ModelTarget`
/// asks for. A constant that the run overwrites is an input as well.
///
/// Observers see the whole network as one step: its node has the network's name and the operator
/// `framework`. The framework draws its own random numbers; `ExecutorOptions::seed` has no effect
/// on them. Throws: Unsupported for a device other than the host; ValueError if `compile` is empty.
///
///     framework.part<ExecutorRegistry>().add("mine", {"whole networks", [](Network network,
///         const ExecutorOptions& options) {
///       return make_model_executor(std::move(network), options, "mine", compile);
///     }});
[[nodiscard]] std::unique_ptr<GraphExecutor> make_model_executor(Network network,
                                                                 const ExecutorOptions& options,
                                                                 std::string framework,
                                                                 ModelCompiler compile);

}  // namespace d5

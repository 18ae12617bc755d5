// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "d5/level0_ops/operator/compiled_model.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

namespace d5 {

/// An executor that leaves whole networks to a framework, which compiles and runs them.
///
/// It compiles for each set of input shapes, mode, loss and number of threads, keeps the last few,
/// and compiles again after edits of the network. Parameters are constants of what it compiles for
/// inference, and it compiles that again when their values changed; for backpropagation they are
/// inputs behind those that are fed, and their gradients the outputs that `ModelTarget` asks for.
/// So is a constant an input that the run overwrites.
///
/// Observers see the whole network as one step, whose node is called as the network is, of operator
/// `framework`. The framework draws its random numbers, which `ExecutorOptions::seed` does not
/// reach. Throws: Unsupported for a device other than the host; ValueError if `compile` is empty.
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

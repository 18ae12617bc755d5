// SPDX-License-Identifier: Apache-2.0
// Entry point of the plug-in: LibTorch's parts of each level.
#include "d5/core/entries/plugin.hpp"

#include <ATen/Parallel.h>
#include <torch/version.h>

#include "d5/core/machine/thread_share.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/level0_ops/operator/custom_operator.hpp"
#include "d5/level1_network/execution/model_executor.hpp"
#include "data_parallel.hpp"
#include "fused_optimizer.hpp"
#include "native_operator.hpp"
#include "network_executor.hpp"
#include "result_memory.hpp"
#include "scripted_model.hpp"

namespace d5::torch {

void register_all(OperatorRegistry& registry);  // generated

namespace {

void fill(Framework& framework) {
  ResultMemory::install();
  on_threads_changed([](int count) { at::set_num_threads(count); });
  on_thread_share([](int count) {
    (void)at::get_num_threads();  // or torch sets a new thread's number later, to another one
    at::set_num_threads(count);
  });
  auto& operators = framework.part<OperatorRegistry>();
  register_all(operators);
  add_native_operators(find_native_operator);
  framework.part<ExecutorRegistry>().add(
      "torch", {"torch's functions called in sequence; gradients by autograd",
                [&operators](Network network, const ExecutorOptions& options) {
                  return make_network_executor(std::move(network), options, operators);
                }});
  framework.part<ExecutorRegistry>().add(
      "script", {"frozen TorchScript graph, optimized for inference",
                 [&operators](Network network, const ExecutorOptions& options) {
                   return make_model_executor(
                       std::move(network), options, "torch",
                       [&operators](const onnx::Model& model, const ModelTarget& target) {
                         return script(model, target, operators);
                       });
                 }});
  register_optimizers(framework.part<NativeOptimizers>());
  register_schemes(framework.part<NativeSchemes>());
}

}  // namespace
}  // namespace d5::torch

D5_FRAMEWORK_PLUGIN("torch", TORCH_VERSION, d5::torch::fill)

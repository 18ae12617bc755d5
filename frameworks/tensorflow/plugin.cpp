// SPDX-License-Identifier: Apache-2.0
// Entry point of the plug-in: TensorFlow's parts of each level.
#include "d5/core/entries/plugin.hpp"

#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level1_network/execution/model_executor.hpp"
#include "graph_model.hpp"
#include "library.hpp"
#include "reorder_kernel.hpp"
#include "resource_optimizer.hpp"
#include "runtime.hpp"
#include "translators.hpp"

namespace d5::tensorflow {

void register_all(Translators& translators);  // generated

namespace {

void fill(Framework& framework) {
  follow_threads();
  auto& translators = framework.part<Translators>();
  register_all(translators);
  auto& operators = framework.part<OperatorRegistry>();
  translators.register_kernels(operators);
  operators.set_reorder([](const TensorDesc& from, const TensorDesc& to) {
    return std::make_unique<ReorderKernel>(from, to);
  });
  framework.part<ExecutorRegistry>().add(
      "graph", {"whole network as one graph in a session; gradients by TensorFlow",
                [&translators](Network network, const ExecutorOptions& options) {
                  return make_model_executor(
                      std::move(network), options, "tensorflow",
                      [&translators](const onnx::Model& model, const ModelTarget& target) {
                        return compile_graph(model, target, translators);
                      });
                }});
  register_optimizers(framework.part<NativeOptimizers>());
}

}  // namespace
}  // namespace d5::tensorflow

D5_FRAMEWORK_PLUGIN("tensorflow", d5::tensorflow::load_library(), d5::tensorflow::fill)

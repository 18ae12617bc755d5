// SPDX-License-Identifier: Apache-2.0
// Entry point of the plug-in: whole networks in sessions, and single nodes as models of one node.
#include "d5/core/entries/plugin.hpp"

#include "d5/level0_ops/operator/model_kernels.hpp"
#include "d5/level1_network/execution/model_executor.hpp"
#include "ort_value.hpp"
#include "session_model.hpp"

namespace d5::onnxruntime {
namespace {

ModelCompiler compiler(const SessionChoice& choice) {
  return [choice](const onnx::Model& model, const ModelTarget& target) {
    return std::make_unique<SessionModel>(model, target, choice);
  };
}

void fill(Framework& framework) {
  (void)api();  // throws where the library cannot be used
  // A single node leaves nothing to optimize, and many idle sessions would hold threads.
  add_model_kernels(framework.part<OperatorRegistry>(),
                    compiler({.optimization = Optimization::disabled, .spinning = false}), refusal);
  framework.part<ExecutorRegistry>().add(
      "session",
      ExecutorEntry::with<SessionChoice>(
          "whole networks in ONNX Runtime sessions on the CPU; inference only",
          [](Network network, const ExecutorOptions& options, const SessionChoice& choice) {
            return make_model_executor(std::move(network), options, "onnxruntime",
                                       compiler(choice));
          }));
}

}  // namespace
}  // namespace d5::onnxruntime

D5_FRAMEWORK_PLUGIN("onnxruntime", d5::onnxruntime::version(), d5::onnxruntime::fill)

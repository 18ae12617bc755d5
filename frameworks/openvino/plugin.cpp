// SPDX-License-Identifier: Apache-2.0
// Entry point of the plug-in: whole networks, and single nodes as models of one node.
#include "d5/core/entries/plugin.hpp"

#include <openvino/core/version.hpp>

#include "d5/level0_ops/operator/model_kernels.hpp"
#include "d5/level1_network/execution/model_executor.hpp"
#include "inference_model.hpp"
#include "ov_tensor.hpp"

namespace d5::openvino {
namespace {

ModelCompiler compiler(const InferenceChoice& choice) {
  return [choice](const onnx::Model& model, const ModelTarget& target) {
    return std::make_unique<InferenceModel>(model, target, choice);
  };
}

void fill(Framework& framework) {
  add_model_kernels(framework.part<OperatorRegistry>(), compiler({.part = Part::node}), refusal);
  framework.part<ExecutorRegistry>().add(
      "compiled",
      ExecutorEntry::with<InferenceChoice>(
          "whole networks compiled by OpenVINO for the CPU; inference only",
          [](Network network, const ExecutorOptions& options, const InferenceChoice& choice) {
            return make_model_executor(std::move(network), options, "openvino", compiler(choice));
          }));
}

}  // namespace
}  // namespace d5::openvino

D5_FRAMEWORK_PLUGIN("openvino", ov::get_openvino_version().buildNumber, d5::openvino::fill)

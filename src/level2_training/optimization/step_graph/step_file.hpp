// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include "d5/level1_network/graph/network.hpp"
#include "d5/onnx/file.hpp"

namespace d5::detail {

/// File form of a `StepGraph`: the inference network, and the step's other nodes.
struct StepFile {
  Network step;
  std::shared_ptr<const onnx::ModelFile> inference;
  std::map<std::string, double> numbers;  ///< hyper-parameters, by the inputs of `step`
};

/// Throws: as `StepGraph::load`.
[[nodiscard]] StepFile load_step_file(const std::string& path);
/// Throws: IoError, Unsupported.
void save_step_file(const StepFile& file, const std::string& path);

/// Inference part of a network that is trained by `loss`.
[[nodiscard]] std::shared_ptr<const onnx::ModelFile> inference_file(const Network& network,
                                                                    const std::string& loss);
/// `model` with the values of `network` for the same names.
[[nodiscard]] onnx::Model with_values_of(const Network& network, onnx::Model model);

}  // namespace d5::detail

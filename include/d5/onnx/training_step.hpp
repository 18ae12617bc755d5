// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "d5/onnx/file.hpp"

namespace d5::onnx {

/// What a file says of one training step: the nodes, inputs, outputs and initializers that come to
/// the model's own, and which initializers outputs take the place of after the step.
///
/// Source: ONNX IR specification, TrainingInfoProto.
struct TrainingInfo {
  Graph algorithm;
  std::map<std::string, std::string> update_binding;  ///< initializer to output
};

/// The model that a file is beside its training information, the step as a whole (the model's graph
/// and the algorithm's behind each other, in an order in which they can run), and its bindings.
struct TrainingStep {
  ModelFile inference;
  Model whole;
  std::map<std::string, std::string> update_binding;
};

/// Checks the step as `load` does a model, and that bindings name initializers and outputs.
/// Throws: as `load`; FormatError for a file without training information; Unsupported for several
/// algorithms in one file.
[[nodiscard]] TrainingStep load_training_step(const std::string& path,
                                              const LoadOptions& options = {});

/// Makes `info` all that `file` says of training. Its initializers are saved in the message itself.
void set_training_info(ModelFile& file, const TrainingInfo& info);

}  // namespace d5::onnx

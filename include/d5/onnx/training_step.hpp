// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "d5/onnx/file.hpp"

namespace d5::onnx {

/// A file's training information for one step: additional nodes, inputs, outputs and initializers,
/// and the outputs that replace initializers after the step.
///
/// Source: ONNX IR specification, TrainingInfoProto.
struct TrainingInfo {
  Graph algorithm;
  std::map<std::string, std::string> update_binding;  ///< initializer to output
};

/// A file's model without training information; the whole step, as the model's graph followed by
/// the algorithm's, in topological order; and its bindings.
struct TrainingStep {
  ModelFile inference;
  Model whole;
  std::map<std::string, std::string> update_binding;
};

/// Loads and checks the step as `load` does a model. Also checks that bindings name initializers
/// and outputs.
/// Throws: as `load`; FormatError for a file without training information; Unsupported for several
/// algorithms in one file.
[[nodiscard]] TrainingStep load_training_step(const std::string& path,
                                              const LoadOptions& options = {});

/// Replaces the training information of `file` by `info`. Its initializers are saved in the message
/// itself.
void set_training_info(ModelFile& file, const TrainingInfo& info);

}  // namespace d5::onnx

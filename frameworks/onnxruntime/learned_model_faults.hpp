// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/level0_ops/operator/model_faults.hpp"

namespace d5::onnxruntime {

/// Faults of ONNX Runtime 1.31 in models of ai.onnx.ml: labels that are not the top class, omitted
/// transforms.
[[nodiscard]] std::string in_tree_classifier(const KnownNode& known);
[[nodiscard]] std::string in_tree_regressor(const KnownNode& known);
[[nodiscard]] std::string in_tree_ensemble(const KnownNode& known);
[[nodiscard]] std::string in_linear_classifier(const KnownNode& known);
[[nodiscard]] std::string in_linear_regressor(const KnownNode& known);
[[nodiscard]] std::string in_svm_classifier(const KnownNode& known);
[[nodiscard]] std::string in_svm_regressor(const KnownNode& known);

}  // namespace d5::onnxruntime

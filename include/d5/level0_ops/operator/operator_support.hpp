// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "d5/core/tensor/dtype.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"

namespace d5 {

/// What one framework has of one operator.
struct OperatorSupport {
  std::string name, framework;             ///< "Conv", "ai.onnx.ml.Scaler"; "torch"
  std::string opsets;                      ///< "1+", "1-9 11+"
  std::vector<DType> types = {};           ///< of inputs and outputs, in which it runs
  std::vector<DType> gradient_types = {};  ///< in which its backward runs
  int passed = 0, cases = 0;               ///< of ONNX's cases that hold the operator
};

/// "floats, int32": one word for a family that is there as a whole.
[[nodiscard]] std::string type_words(std::set<DType> types);

/// What d5's tests found, from the files that it carries (data/operators); nothing is loaded.
/// By framework, then by operator. Throws: NotFound, FormatError.
[[nodiscard]] std::vector<OperatorSupport> operator_support();
/// What a framework that is loaded registers, with what the tests found of it.
[[nodiscard]] std::vector<OperatorSupport> operator_support(const OperatorRegistry& registry);

/// A file of data/operators: the rows of one framework.
[[nodiscard]] std::string to_csv(const std::vector<OperatorSupport>& rows);
/// The inverse. `source` is named in messages. Throws: FormatError with the line.
[[nodiscard]] std::vector<OperatorSupport> operator_support_from_csv(const std::string& text,
                                                                     const std::string& framework,
                                                                     const std::string& source);

}  // namespace d5

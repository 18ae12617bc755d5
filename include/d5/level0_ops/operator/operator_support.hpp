// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "d5/core/tensor/dtype.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"

namespace d5 {

/// A framework's support of an operator.
struct OperatorSupport {
  std::string name, framework;             ///< "Conv", "ai.onnx.ml.Scaler"; "torch"
  std::string opsets;                      ///< "1+", "1-9 11+"
  std::vector<DType> types = {};           ///< supported types of inputs and outputs
  std::vector<DType> gradient_types = {};  ///< types supported by backward
  int passed = 0, cases = 0;               ///< ONNX's test cases with this operator
};

/// A short list of types, with one word for a complete family: "floats, int32".
[[nodiscard]] std::string type_words(std::set<DType> types);

/// Results of d5's tests, from shipped files (data/operators), without loading frameworks. Sorted
/// by framework, then by operator. Throws: NotFound, FormatError.
[[nodiscard]] std::vector<OperatorSupport> operator_support();
/// Operators that a loaded framework registers, with test results.
[[nodiscard]] std::vector<OperatorSupport> operator_support(const OperatorRegistry& registry);

/// Content of a file of data/operators: the rows of one framework.
[[nodiscard]] std::string to_csv(const std::vector<OperatorSupport>& rows);
/// The inverse of `to_csv`. `source` is the name in error messages. Throws: FormatError with the
/// line.
[[nodiscard]] std::vector<OperatorSupport> operator_support_from_csv(const std::string& text,
                                                                     const std::string& framework,
                                                                     const std::string& source);

}  // namespace d5

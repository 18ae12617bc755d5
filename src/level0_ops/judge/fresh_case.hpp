// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/tensor/random.hpp"
#include "d5/level0_ops/case/operator_case.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"

namespace d5::detail {

/// Inputs of one call, and what the reference makes of them.
struct FreshCall {
  OperatorCase drawn;
  std::vector<ValueDesc> outputs = {};  ///< by the case's contract
  std::vector<Value> expected = {};     ///< in the outputs' types
  std::vector<ForwardTolerance> tolerances = {};
  std::string judge = {};  ///< "reference in float64"
};

/// A case with fresh inputs for each call.
class FreshCase {
 public:
  /// Throws: Unsupported for a case that cannot be judged: no reference has the operator, it draws
  /// random numbers itself, all its inputs are given, or it has values that are not numbers in
  /// tensors of a known shape. Else what drawing throws.
  explicit FreshCase(CaseLine line);

  [[nodiscard]] const CaseLine& line() const { return line_; }
  [[nodiscard]] const onnx::Node& node() const { return line_.node; }
  /// Descriptions of inputs and outputs; their sizes are those of all calls.
  [[nodiscard]] const std::vector<ValueDesc>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<ValueDesc>& outputs() const { return outputs_; }
  [[nodiscard]] double flop() const { return flop_; }
  [[nodiscard]] double bytes() const { return bytes_; }

  /// Draws a call. Large values are normal inputs of 16 times the usual deviation, in float32 and
  /// float64; the absolute tolerance then grows as the outputs do.
  enum class Values { usual, large };
  [[nodiscard]] FreshCall draw(RandomStream& random, Values values) const;

 private:
  CaseLine line_;
  std::vector<std::size_t> scalable_;  ///< inputs of normal reals
  std::vector<ValueDesc> inputs_, outputs_;
  double flop_ = 0, bytes_ = 0;
};

}  // namespace d5::detail

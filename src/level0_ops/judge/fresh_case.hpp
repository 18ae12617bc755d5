// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "d5/core/tensor/random.hpp"
#include "d5/level0_ops/case/operator_case.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"

namespace d5::detail {

[[nodiscard]] std::vector<ValueDesc> descriptions(std::span<const Value> values);

/// Pass of an operator that is judged.
enum class JudgedPass { forward, backward };

/// Tensors of one call, and what the reference makes of them.
struct FreshCall {
  OperatorCase drawn;
  /// Inputs; for backward also the outputs, and a drawn gradient of each, which may be none.
  std::vector<Value> read = {};
  std::vector<ValueDesc> written = {};  ///< outputs, or gradients of inputs
  std::vector<Value> expected = {};     ///< in the types of `written`
  std::vector<ForwardTolerance> tolerances = {};
  std::string judge = {};  ///< "reference in float64"
};

/// A case with fresh inputs for each call.
class FreshCase {
 public:
  /// Throws: Unsupported for a case that cannot be judged: no reference has the operator, it draws
  /// random numbers itself, all its inputs are given, it has values that are not numbers in tensors
  /// of a known shape, or no gradient. Else what drawing throws.
  FreshCase(CaseLine line, JudgedPass pass);

  [[nodiscard]] JudgedPass pass() const { return pass_; }
  /// Descriptions of a call's tensors; their sizes are those of all calls.
  [[nodiscard]] const std::vector<ValueDesc>& read() const { return read_; }
  [[nodiscard]] const std::vector<ValueDesc>& written() const { return written_; }
  /// Work of a call by the operator's definition; 0 if unknown.
  [[nodiscard]] double flop() const { return flop_; }
  [[nodiscard]] double bytes() const { return bytes_; }

  /// Draws a call. Large values are normal inputs of 16 times the usual deviation, in float32 and
  /// float64; the absolute tolerance then grows as the results do.
  enum class Values { usual, large };
  [[nodiscard]] FreshCall draw(RandomStream& random, Values values) const;

 private:
  CaseLine line_;
  JudgedPass pass_;
  std::vector<std::size_t> scalable_;  ///< inputs of normal reals
  std::vector<ValueDesc> read_, written_;
  double flop_ = 0, bytes_ = 0;
};

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "d5/core/tensor/value.hpp"
#include "d5/onnx/model.hpp"

namespace d5::onnxruntime {

/// The integer nodes Div and Mod of a model. ONNX Runtime divides integers with the processor's
/// instruction, which crashes the process for a division by 0, and of the smallest integer by -1.
class IntegerDivisions {
 public:
  /// Throws: Unsupported for constants that would crash the process, and for divisors that are
  /// computed in the network, which cannot be checked.
  explicit IntegerDivisions(const onnx::Model& model);

  /// Checks divisors among `inputs`, the model's inputs in order. Throws: Unsupported for a
  /// division that would crash the process.
  void expect_defined(std::span<const Value* const> inputs) const;

 private:
  using Operand = std::variant<std::monostate, std::size_t, Tensor>;  ///< inner, input, constant
  struct Division {
    std::string who;
    Operand dividend, divisor;
  };
  std::vector<Division> divisions_;  ///< divisors that are inputs
};

}  // namespace d5::onnxruntime

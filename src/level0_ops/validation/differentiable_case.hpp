// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/level0_ops/case/operator_case.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"

namespace d5::detail {

/// A case as a function of its real inputs with a derivative. Numbers go in and out in float64,
/// whatever type they have inside.
///
/// Shapes: outputs are those that have a gradient, their elements one after another.
class DifferentiableCase {
 public:
  /// `inputs` are copied. Throws: what planning and running the operator throws.
  DifferentiableCase(const OperatorRegistry& registry, const OperatorCase& op_case,
                     const std::vector<Value>& inputs, const Interrupt& interrupt);

  [[nodiscard]] std::size_t inputs() const { return starts_.size(); }
  [[nodiscard]] bool has_gradient(std::size_t i) const { return moves_[i]; }
  /// Where the case is; empty for an input without gradient.
  [[nodiscard]] const std::vector<double>& start(std::size_t i) const { return starts_[i]; }
  /// Moves input `i`; returns where it is, rounded to its type.
  std::vector<double> put(std::size_t i, std::span<const double> values);
  /// Back to where the case is, all inputs.
  void put_back();

  [[nodiscard]] std::size_t output_elements() const { return elements_; }
  [[nodiscard]] std::vector<double> values();
  /// v^T J for input `i`, where the inputs are now.
  [[nodiscard]] std::vector<double> gradient(std::size_t i, std::span<const double> v);
  [[nodiscard]] Cost cost() const { return runner_.cost(); }
  /// The widest type among the inputs that have a gradient.
  [[nodiscard]] DType widest() const { return widest_; }
  /// Why differences say nothing of it; empty where they do.
  [[nodiscard]] std::string obstacle() const;

 private:
  void forward();

  OperatorRunner runner_;
  std::string line_;
  const Interrupt& interrupt_;
  std::vector<std::vector<double>> starts_;
  std::vector<bool> moves_;
  std::vector<Tensor> directions_;  ///< of the outputs; undefined where one has no gradient
  std::size_t elements_ = 0;
  DType widest_ = DType::float16;
};

}  // namespace d5::detail

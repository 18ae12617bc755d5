// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/level0_ops/case/operator_case.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"

namespace d5::detail {

/// A case as a differentiable function of its real inputs. Numbers are passed in float64, for any
/// type inside.
///
/// Shapes: the outputs with a gradient, with concatenated elements.
class DifferentiableCase {
 public:
  /// `inputs` are copied. Throws: what planning and running the operator throws.
  DifferentiableCase(const OperatorRegistry& registry, const OperatorCase& op_case,
                     const std::vector<Value>& inputs, const Interrupt& interrupt);

  [[nodiscard]] std::size_t inputs() const { return starts_.size(); }
  [[nodiscard]] bool has_gradient(std::size_t i) const { return moves_[i]; }
  /// The case's value of input `i`; empty for an input without gradient.
  [[nodiscard]] const std::vector<double>& start(std::size_t i) const { return starts_[i]; }
  /// Sets input `i`; returns its values, rounded to its type.
  std::vector<double> put(std::size_t i, std::span<const double> values);
  /// Resets all inputs to the case's values.
  void put_back();

  [[nodiscard]] std::size_t output_elements() const { return elements_; }
  /// Whether the Jacobian of input `i` is small enough to check every entry by default.
  [[nodiscard]] bool has_small_jacobian(std::size_t i) const {
    return starts_[i].size() <= 200 && elements_ <= 2000;
  }
  [[nodiscard]] std::vector<double> values();
  /// v^T J for input `i`, at the present values of the inputs.
  [[nodiscard]] std::vector<double> gradient(std::size_t i, std::span<const double> v);
  [[nodiscard]] Cost cost() const { return runner_.cost(); }
  /// The widest type of the inputs with a gradient.
  [[nodiscard]] DType widest() const { return widest_; }
  /// The reason why differences do not apply; empty if they do.
  [[nodiscard]] std::string obstacle() const;

 private:
  void forward();

  OperatorRunner runner_;
  std::string line_;
  const Interrupt& interrupt_;
  std::vector<std::vector<double>> starts_;
  std::vector<bool> moves_;
  std::vector<Tensor> directions_;  ///< per output; undefined without gradient
  std::size_t elements_ = 0;
  DType widest_ = DType::float16;
};

}  // namespace d5::detail

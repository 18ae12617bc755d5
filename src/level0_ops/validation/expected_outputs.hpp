// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"

namespace d5::detail {

/// Expected outputs of a case.
struct ExpectedOutputs {
  std::vector<Value> values = {};
  Cost cost = {};      ///< `summing_cost` of the reference; zero if the case has expected values
  bool exact = false;  ///< computed in float64

  /// Expected value of output `i`, in the element type of `got`.
  [[nodiscard]] Value value(std::size_t i, const Value& got) const;
  /// The tolerance for rounding of an output with the expected value `wanted`.
  [[nodiscard]] ForwardTolerance tolerance(const Value& wanted) const;
};

/// The case's expected values, or those computed by the framework `reference`, in float64 if
/// `exact`.
/// Throws: exceptions of the reference; Interrupted.
[[nodiscard]] ExpectedOutputs expected_outputs(const OperatorCase& op_case,
                                               const std::string& reference, bool exact,
                                               const Interrupt& interrupt);

/// The comparable outputs of a run: those that the node has and the case expects.
[[nodiscard]] std::vector<std::size_t> comparable_outputs(const OperatorCase& op_case,
                                                          const OperatorRunner& got,
                                                          const ExpectedOutputs& expected);

}  // namespace d5::detail

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

/// What an operator should answer to a case.
struct ExpectedOutputs {
  std::vector<Value> values = {};
  Cost cost = {};      ///< of the reference's run; nothing where the case itself expects
  bool exact = false;  ///< in float64

  /// Of output `i`: in the element type of `got`, which it is compared with.
  [[nodiscard]] Value value(std::size_t i, const Value& got) const;
  /// What rounding explains of an output of which `wanted` is expected.
  [[nodiscard]] ForwardTolerance tolerance(const Value& wanted) const;
};

/// As the case says, or what the framework `reference` computes, in float64 if it shall be `exact`.
/// Throws: what it throws; Interrupted.
[[nodiscard]] ExpectedOutputs expected_outputs(const OperatorCase& op_case,
                                               const std::string& reference, bool exact,
                                               const Interrupt& interrupt);

/// The outputs of a run that can be compared: those that the node has and the case knows.
[[nodiscard]] std::vector<std::size_t> comparable_outputs(const OperatorCase& op_case,
                                                          const OperatorRunner& got,
                                                          const ExpectedOutputs& expected);

}  // namespace d5::detail

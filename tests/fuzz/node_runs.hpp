// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/level0_ops/operator_case.hpp"

namespace d5::fuzz {

/// What a node gave, or how it was refused.
struct Outcome {
  std::vector<Value> outputs = {};
  std::string error = {};
  /// Refused for what this framework lacks, or for the memory that it takes: another may do it.
  bool beyond = false;
  std::string unstable = {};  ///< how the second run differed from the first
};

/// The frameworks that were built, besides the reference.
[[nodiscard]] const std::vector<std::string>& frameworks_under_test();

/// Forward twice, and backward where there is a gradient, with a guard around all memory.
[[nodiscard]] Outcome run_alone(const OperatorCase& op_case, const std::string& framework);
/// Twice by d5's executor. Some inputs are constants, the others are fed: which the line decides.
[[nodiscard]] Outcome run_in_network(const OperatorCase& op_case, const std::string& framework);
/// Twice by the framework's own executor; beyond it where it has none.
[[nodiscard]] Outcome run_by_own_executor(const OperatorCase& op_case,
                                          const std::string& framework);

/// How `got` contradicts `expected`, or nothing. `who` gave it.
[[nodiscard]] std::string difference(const Outcome& expected, const Outcome& got,
                                     const OperatorCase& op_case, const std::string& who);

}  // namespace d5::fuzz

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "d5/level0_ops/validation/operator_check.hpp"

namespace d5 {

struct CaseReductionProgress {
  std::string line;  ///< the smallest case so far
  std::size_t tries = 0;
  double seconds = 0;
};

struct CaseReductionOptions {
  /// The check to reduce, for its first framework. With isolation, a crash or a hang is a
  /// difference, too.
  OperatorCheckOptions check = {};
  double most_seconds = 600;  ///< time limit; then the smallest case so far is returned
  std::function<void(const CaseReductionProgress&)> on_try = {};
};

/// The smallest case found.
struct ReducedCase {
  CaseLine line;
  /// Description of its failure; empty: no failure, nothing was reduced.
  std::string difference = {};
  std::string test = {};   ///< the test that fails: "forward", "gradient", "repeatability"
  int differing_runs = 0;  ///< number of `runs` of the original case that differ
  int runs = 0;
  std::size_t tries = 0;
  double seconds = 0;
  bool is_smallest = false;  ///< the line cannot be reduced further; false: the time was over
};

/// Reduces `line` to the smallest case with the same failure in a framework (delta debugging). It
/// removes expected values (then the reference judges), attributes, inputs and dimensions. It
/// bisects sizes, equal sizes together, also in attributes, and each alone. It removes values in
/// braces one by one.
///
///     reduce_case(read_case("Conv 16x12x32x32 8x12x3x3 pads=1x1x1x1"), {.check = {.frameworks =
///                 {"torch"}}}).line.line   // "Conv 1x5x1x1 1x5x1x1"
///
/// Random inputs are drawn again for each shape, from the case's seed. A difference caused by a few
/// of them may vanish, so each size is tried several times. Errors below 1/64 of the original one,
/// and other error messages, do not count as the same failure.
/// Throws: ValueError for a case that fails in the reference as well; Unsupported if the framework
/// lacks the operator; what drawing the case throws.
[[nodiscard]] ReducedCase reduce_case(const CaseLine& line,
                                      const CaseReductionOptions& options = {});

}  // namespace d5

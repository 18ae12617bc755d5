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
  /// What is looked at, and how closely; of its frameworks the first. Isolated, a crash or a hang
  /// is a difference, too.
  OperatorCheckOptions check = {};
  double most_seconds = 600;  ///< then the smallest so far is the answer
  std::function<void(const CaseReductionProgress&)> on_try = {};
};

/// A case that is as small as it can be.
struct ReducedCase {
  CaseLine line;
  std::string difference = {};  ///< of it, in words; empty: there is none, and nothing was reduced
  std::string test = {};        ///< that shows it: "forward", "gradient", "repeatability"
  int differing_runs = 0;       ///< of the whole case, of `runs`
  int runs = 0;
  std::size_t tries = 0;
  double seconds = 0;
  bool is_smallest = false;  ///< nothing in the line can go; otherwise time was over
};

/// The smallest line that a framework still fails as it does `line`: the values that are expected
/// go (then the reference judges), attributes, inputs, dimensions; sizes are bisected, those that
/// are equal together, in attributes too, and each alone; values in braces go one by one.
///
///     reduce_case(read_case("Conv 16x12x32x32 8x12x3x3 pads=1x1x1x1"), {.check = {.frameworks =
///                 {"torch"}}}).line.line   // "Conv 1x5x1x1 1x5x1x1"
///
/// Random numbers are drawn anew for each shape, from the case's seed: a difference that a few of
/// them bring comes and goes, and is looked for several times. An error does not count that is less
/// than a 64th of the whole's, nor another complaint.
/// Throws: ValueError for a case that the reference complains of alike; Unsupported where the
/// framework does not have the operator; what drawing the case throws.
[[nodiscard]] ReducedCase reduce_case(const CaseLine& line,
                                      const CaseReductionOptions& options = {});

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/core/report/plot.hpp"
#include "d5/core/results/measurement.hpp"

namespace d5 {

/// How an optimizer is checked.
struct OptimizerCheck {
  /// Its judge, with the optimizer's settings where it has none of its own. Without a name: for a
  /// framework's, d5's own of that name; for one of d5's registry there is none.
  EntryChoice against = {};
  std::string framework = "reference";  ///< a word of `open_executor`: who computes gradients
  std::int64_t steps = 12;
  std::uint64_t seed = 0;
  /// Whether each parameter has records of its own besides.
  enum class Parameters { together, each } parameters = Parameters::together;
  Plot* drawn = nullptr;  ///< gets `divergence_plot`; null: not drawn
};

/// What `d5 optimizer check` does: trains LeNet for some steps with the optimizer of that name
/// (`find_optimizer`), on the digits that d5 carries. Records:
///
/// - `trajectory_difference` and `rule_difference`: of the judge's parameters, with gradients of
/// its
///   own and with the judge's, as `test_optimizer`; skipped where there is no judge;
/// - `optimizer_repeatability`: parameter elements that differ in any bit when the same is trained
///   again, and when a fresh optimizer goes on from `state` in the middle; none may;
/// - `loss_ratio`: of one batch after the steps to before them; it must fall.
///
///     check_optimizer({"torch/adam"});
///     check_optimizer({"mine", {{"learning_rate", 0.1}}}, {.against = {"sgd"}});
///
/// Throws: NotFound, ValueError for names and settings; Unsupported for a framework that is absent.
[[nodiscard]] std::vector<Measurement> check_optimizer(const EntryChoice& optimizer,
                                                       const OptimizerCheck& how = {});

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/core/report/plot.hpp"
#include "d5/core/results/measurement.hpp"

namespace d5 {

/// Options for checking an optimizer.
struct OptimizerCheck {
  /// The optimizer to compare with; it takes the subject's settings if it has none of its own. If
  /// it has no name: d5's own of the same name for a framework's optimizer, none for one of d5's
  /// registry.
  EntryChoice against = {};
  std::string framework = "reference";  ///< executor of the gradients, a word of `open_executor`
  std::int64_t steps = 12;
  std::uint64_t seed = 0;
  /// Whether each parameter has its own records as well.
  enum class Parameters { together, each } parameters = Parameters::together;
  Plot* drawn = nullptr;  ///< gets `divergence_plot`; null: no plot
};

/// Checks an optimizer (`find_optimizer`): trains LeNet with it for some steps on the MNIST sample
/// that comes with d5. The command `d5 optimizer check`. Records:
///
/// - `trajectory_difference` and `rule_difference`: difference from the reference optimizer's
///   parameters, with the subject's own gradients and with the reference's, as `test_optimizer`;
///   skipped without a reference optimizer;
/// - `optimizer_repeatability`: number of parameter elements that differ in any bit when training
/// is
///   repeated, and when a fresh optimizer continues from `state` in the middle; must be 0;
/// - `loss_ratio`: loss of one batch after the steps over the loss before them; must be below 1.
///
///     check_optimizer({"torch/adam"});
///     check_optimizer({"mine", {{"learning_rate", 0.1}}}, {.against = {"sgd"}});
///
/// Throws: NotFound, ValueError for names and settings; Unsupported for a framework that is absent.
[[nodiscard]] std::vector<Measurement> check_optimizer(const EntryChoice& optimizer,
                                                       const OptimizerCheck& how = {});

}  // namespace d5

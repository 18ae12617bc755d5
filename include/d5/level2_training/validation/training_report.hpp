// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/core/report/report.hpp"
#include "d5/level2_training/validation/training_comparison.hpp"

namespace d5 {

/// The trainings that the records of single runs tell of (`d5 train --out`): runs that agree in
/// subject, framework, device and conditions, but for their seed, are of one training, which is
/// named by what tells it from the others.
[[nodiscard]] std::vector<ComparedTraining> trainings_in(
    const std::vector<Report::Source>& sources);

/// What training drew while it ran, from what it wrote, besides `plots_of`:
///
/// - "accuracy-over-epochs", of several runs, and "loss-over-time" (`accuracy_plot`, `loss_plot`);
/// - "divergence" of each optimizer that was held against another (`divergence_plot`): of each
///   parameter where it has records (`d5 optimizer check --each-parameter`), else the largest.
[[nodiscard]] std::vector<Plot> training_plots(const std::vector<Report::Source>& sources);

}  // namespace d5

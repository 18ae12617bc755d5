// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/core/report/report.hpp"
#include "d5/level2_training/validation/training_comparison.hpp"

namespace d5 {

/// Groups the records of single runs (`d5 train --out`) into trainings. Runs with the same subject,
/// framework, device and conditions except the seed belong to one training; its name is what
/// distinguishes it from the others.
[[nodiscard]] std::vector<ComparedTraining> trainings_in(
    const std::vector<Report::Source>& sources);

/// The records of repeated trainings (`d5 train --repeat --out`) in groups to print as tables of
/// their own, as `d5 train` does: the single runs of each training, the joined runs of each, all
/// comparisons, all else. Nothing if no record is of joined runs.
[[nodiscard]] std::vector<std::vector<Measurement>> repeated_training_groups(
    const std::vector<Measurement>& records);

/// Plots of a training from its result files, in addition to `plots_of`:
///
/// - "accuracy-over-epochs", for several runs, and "loss-over-time" (`accuracy_plot`, `loss_plot`);
/// - "divergence" of each optimizer that was compared with another (`divergence_plot`): for each
///   parameter if it has records (`d5 optimizer check --each-parameter`), otherwise the largest.
[[nodiscard]] std::vector<Plot> training_plots(const std::vector<Report::Source>& sources);

}  // namespace d5

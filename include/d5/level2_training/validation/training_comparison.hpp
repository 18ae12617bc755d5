// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/report/plot.hpp"
#include "d5/level2_training/training/training_repetition.hpp"

namespace d5 {

/// One of several trainings to compare.
struct ComparedTraining {
  std::string name = {};
  RepeatedRuns runs = {};
};

/// Compares `subject` with `base`, run by run with the same seeds. Records "METRIC_ratio" cover
/// quality (test_accuracy, test_loss, perplexity), samples_to_accuracy and time (time_to_accuracy,
/// epoch_time), as far as both have them. They are the mean of the runs' ratios with Student's 95%
/// interval. The condition "verdict" is "higher" or "lower" if the interval excludes 1, else
/// "undecided"; "p" is the p-value of the paired t-test. The last record, "trade_off", is 1 if the
/// subject is better in something and worse in nothing, -1 in the opposite case, otherwise 0; its
/// "verdict" is "better", "worse", "trade-off" or "undecided".
[[nodiscard]] std::vector<Measurement> compare_trainings(const ComparedTraining& subject,
                                                         const ComparedTraining& base);

/// Result of `compare_trainings` in a sentence: "momentum against adamw: worse; test_accuracy
/// lower; epoch_time undecided". Ends with "; this verdict is mistrusted" if `trade_off` is.
[[nodiscard]] std::string verdict_of(const std::vector<Measurement>& comparison,
                                     const std::string& subject, const std::string& base);

/// Trains both recipes with several seeds, interleaved. Records: `join_runs` of each, then
/// `compare_trainings`, then `reproducibility` of each: the number of parameter elements that
/// differ in any bit when the first seed is trained again; must be 0.
[[nodiscard]] std::vector<Measurement> test_training(const Recipe& subject, const Recipe& base,
                                                     RepetitionOptions options = {.runs = 5},
                                                     const SessionOptions& session = {});

/// Test accuracy over epochs, and training loss over the time of steps and of waiting for data: one
/// line per run, one colour per training. Empty without such records.
[[nodiscard]] Plot accuracy_plot(const std::vector<ComparedTraining>& trainings);
[[nodiscard]] Plot loss_plot(const std::vector<ComparedTraining>& trainings);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/report/plot.hpp"
#include "d5/level2_training/training/training_repetition.hpp"

namespace d5 {

/// One of several trainings that are held against each other.
struct ComparedTraining {
  std::string name = {};
  RepeatedRuns runs = {};
};

/// How `subject` did against `base`, run by run of the same seeds: "METRIC_ratio" of quality
/// (test_accuracy, test_loss, perplexity), samples_to_accuracy and time (time_to_accuracy,
/// epoch_time), as far as both have them, with the condition "verdict": "higher", "lower" or
/// "undecided" by Welch's test at 5%. Last "trade_off", which is 1 where the subject is better in
/// something and worse in nothing, -1 the other way round, 0 else; its "verdict" says it in a word:
/// "better", "worse", "trade-off", "undecided".
[[nodiscard]] std::vector<Measurement> compare_trainings(const ComparedTraining& subject,
                                                         const ComparedTraining& base);

/// What `compare_trainings` found, in a sentence: "momentum against adamw: worse; test_accuracy
/// lower; epoch_time undecided".
[[nodiscard]] std::string verdict_of(const std::vector<Measurement>& comparison,
                                     const std::string& subject, const std::string& base);

/// Trains both recipes from several seeds, interleaved. Records: `join_runs` of each, then
/// `compare_trainings`, then `reproducibility` of each: how many parameter elements differ in any
/// bit when the first seed is trained once more; none may.
[[nodiscard]] std::vector<Measurement> test_training(const Recipe& subject, const Recipe& base,
                                                     RepetitionOptions options = {.runs = 5},
                                                     const SessionOptions& session = {});

/// Test accuracy over epochs, and training loss over seconds of steps and of waiting for data: a
/// line a run, a colour a training. Nothing to draw where there are no such records.
[[nodiscard]] Plot accuracy_plot(const std::vector<ComparedTraining>& trainings);
[[nodiscard]] Plot loss_plot(const std::vector<ComparedTraining>& trainings);

}  // namespace d5

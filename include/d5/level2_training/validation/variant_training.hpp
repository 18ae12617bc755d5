// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "d5/level2_training/training/training_repetition.hpp"
#include "d5/level2_training/training/training_variant.hpp"
#include "d5/level2_training/validation/training_comparison.hpp"

namespace d5 {

/// The records of one run.
using TrainOnce = std::function<std::vector<Measurement>(const TrainingVariant&)>;

struct VariantTrainingOptions {
  RepetitionOptions repetition = {};
  /// Results file, in which each run is kept when it is done (`ResultJournal`); empty: none. Of
  /// several ranks one writes.
  std::string out = {};
  bool resume = false;   ///< runs that `out`, or its journal, holds are not trained again
  std::string how = {};  ///< what all runs share besides recipes; one that goes on must have it
  bool compare = false;  ///< each with the first, too; none fails for what its recipe accepts
  bool search = false;   ///< for the best: none fails for what its recipe accepts
};

/// Several trainings, each from several seeds.
struct TrainedVariants {
  std::vector<ComparedTraining> trainings = {};       ///< the runs of each
  std::vector<std::vector<Measurement>> joined = {};  ///< one record a metric of each, judged
  std::vector<Measurement> records = {};              ///< all of these, with comparisons
  std::vector<std::string> verdicts = {};             ///< a sentence a comparison, `verdict_of`
};

/// Trains variants from several seeds, interleaved, and joins the runs of each; they are held
/// against the recipe's reference, if it has one (`judge_convergence`), unless they are compared.
/// `out` gets every run's
/// records, and behind them the joined ones.
///
///     const auto variants = vary(load_recipe("mnist-lenet-quick"), "optimizer.name=adam,lamb");
///     const auto train = [](const TrainingVariant& one) {
///       return TrainingSession(one.recipe).run();
///     };
///     const auto done = train_variants(variants, train, {.repetition = {.runs = 5},
///                                                        .out = "runs.json", .resume = true});
///
/// Throws: as `repeat_trainings` and `ResultJournal`; what `train` throws.
[[nodiscard]] TrainedVariants train_variants(const std::vector<TrainingVariant>& variants,
                                             const TrainOnce& train,
                                             const VariantTrainingOptions& options = {});

}  // namespace d5

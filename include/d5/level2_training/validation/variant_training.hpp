// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "d5/level2_training/training/training_repetition.hpp"
#include "d5/level2_training/training/training_variant.hpp"
#include "d5/level2_training/validation/training_comparison.hpp"

namespace d5 {

/// Trains a variant once and returns its records.
using TrainOnce = std::function<std::vector<Measurement>(const TrainingVariant&)>;

struct VariantTrainingOptions {
  RepetitionOptions repetition = {};
  /// Results file to which each finished run is added (`ResultJournal`); empty: none. With several
  /// ranks one of them writes.
  std::string out = {};
  bool resume = false;   ///< runs in `out`, or in its journal, are not trained again
  std::string how = {};  ///< settings that all runs share besides recipes; a resumed file must have
                         ///< the same
  /// Line that trains all variants again, for the comparisons' records; empty: each variant's own.
  std::string command = {};
  bool compare = false;  ///< compare each with the first; missed bounds of recipes fail nothing
  bool search = false;   ///< search for the best; missed bounds of recipes fail nothing
};

/// Several trainings, each with several seeds.
struct TrainedVariants {
  std::vector<ComparedTraining> trainings = {};       ///< the runs of each training
  std::vector<std::vector<Measurement>> joined = {};  ///< one record per metric of each training,
                                                      ///< judged
  std::vector<Measurement> comparisons = {};          ///< each training with the first
  std::vector<Measurement> records = {};              ///< all of these, and the comparisons
  std::vector<std::string> verdicts = {};             ///< one sentence per comparison, `verdict_of`
};

/// Trains variants with several seeds, interleaved, and joins the runs of each. Unless they are
/// compared, they are judged against the recipe's reference, if it has one (`judge_convergence`).
/// `out` gets every run's records, then the joined ones.
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

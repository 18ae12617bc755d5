// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/validation/variant_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "d5/core/results/kept_runs.hpp"
#include "d5/level2_training/training/convergence_reference.hpp"

namespace d5 {
namespace {

std::string name_of_run(const TrainingVariant& variant, std::uint64_t seed) {
  const std::string name = fmt::format("{} seed {}", variant.framework, seed);
  return variant.name.empty() ? name : variant.name + " " + name;
}

/// The recipes with all their values, and the lengths of the trainings, which their checksums omit.
std::string how_of(const std::vector<TrainingVariant>& variants, const std::string& how) {
  std::string text = "train " + how;
  for (const auto& variant : variants) {
    const TrainingOptions training = variant.recipe.training();
    text += fmt::format(" {} {} {} epochs {} batches {}", variant.framework, variant.name,
                        training.epochs, training.most_batches, variant.recipe.checksum());
  }
  return text;
}

/// Bounds of recipes are only reported if variants are compared.
std::vector<TrainingVariant> as_asked(std::vector<TrainingVariant> variants,
                                      const VariantTrainingOptions& options) {
  if (!options.compare && !options.search) return variants;
  for (TrainingVariant& variant : variants) variant.recipe.compare_only();
  return variants;
}

std::vector<RepeatedRuns> run_all(const std::vector<TrainingVariant>& variants,
                                  const TrainOnce& train, const RepetitionOptions& repetition,
                                  KeptRuns& kept) {
  std::vector<RepeatedTraining> trainings;
  for (const auto& variant : variants) {
    trainings.push_back(
        {.name = variants.size() > 1 ? variant.name : "", .train = [&](std::uint64_t seed) {
           const auto make = [&] {
             auto records = train({.name = variant.name,
                                   .recipe = with_seed(variant.recipe, seed),
                                   .framework = variant.framework});
             for (Measurement& record : records) {
               for (const auto& [key, words] : variant.differs) {
                 record.conditions[key] = {typed_value(words), Role::identity};
               }
             }
             return records;
           };
           return kept.records_of(name_of_run(variant, seed), make,
                                  [&] { return repetition.interrupt.due(); });
         }});
  }
  return repeat_trainings(trainings, repetition);
}

}  // namespace

TrainedVariants train_variants(const std::vector<TrainingVariant>& variants, const TrainOnce& train,
                               const VariantTrainingOptions& options) {
  KeptRuns kept(options.out, how_of(variants, options.how), options.resume);
  auto runs = run_all(as_asked(variants, options), train, options.repetition, kept);
  TrainedVariants done;
  const auto append = [&](const std::vector<Measurement>& records) {
    done.records.insert(done.records.end(), records.begin(), records.end());
  };
  for (std::size_t i = 0; i < variants.size(); ++i) {
    done.trainings.push_back({variants[i].name, std::move(runs[i])});
    done.trainings[i].runs.compared = options.compare || options.search;
    done.joined.push_back(join_runs(done.trainings[i].runs));
    if (!done.trainings[i].runs.compared) {
      judge_convergence(done.joined.back(), variants[i].recipe);
    }
    append(done.joined.back());
    if (!options.compare || i == 0) continue;
    auto comparison = compare_trainings(done.trainings[i], done.trainings[0]);
    for (Measurement& record : comparison) {
      if (!options.command.empty()) record.command = options.command;
    }
    done.verdicts.push_back(verdict_of(comparison, variants[i].name, variants[0].name));
    append(comparison);
    std::ranges::move(comparison, std::back_inserter(done.comparisons));
  }
  bool whole = true;
  std::vector<std::string> order;  // a variant's runs together
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const RepeatedRuns& runs = done.trainings[i].runs;
    whole = whole && !runs.interrupted;
    for (const std::uint64_t seed : runs.seeds) order.push_back(name_of_run(variants[i], seed));
  }
  using End = ResultJournal::End;
  kept.finish(done.records, whole ? End::whole : End::cut_short, order);
  return done;
}

}  // namespace d5

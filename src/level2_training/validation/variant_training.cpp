// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/variant_training.hpp"

#include <fmt/format.h>

#include <memory>

#include "d5/core/result_journal.hpp"
#include "d5/level2_training/convergence_reference.hpp"

namespace d5 {
namespace {

/// Keeps each run that is done, and goes on from there.
class KeptRuns {
 public:
  KeptRuns(const std::vector<TrainingVariant>& variants, const VariantTrainingOptions& options)
      : variants_(variants), how_(how_of(variants, options.how)) {
    using enum ResultJournal::Begin;
    if (options.out.empty()) return;
    journal_ = std::make_unique<ResultJournal>(options.out, how_, options.resume ? resumed : anew);
  }

  /// Null if it is not done.
  [[nodiscard]] const std::vector<Measurement>* find(const TrainingVariant& variant,
                                                     std::uint64_t seed) const {
    return journal_ ? journal_->find(piece(variant, seed)) : nullptr;
  }
  void add(const TrainingVariant& variant, std::uint64_t seed,
           const std::vector<Measurement>& records) {
    if (journal_) journal_->add(piece(variant, seed), records);
  }
  /// Every run's records, and behind them `joined`.
  void finish(const std::vector<ComparedTraining>& trainings,
              const std::vector<Measurement>& joined);

 private:
  static std::string how_of(const std::vector<TrainingVariant>& variants, const std::string& how);
  static std::string piece(const TrainingVariant& variant, std::uint64_t seed);

  const std::vector<TrainingVariant>& variants_;
  const std::string how_;
  std::unique_ptr<ResultJournal> journal_;
};

std::string KeptRuns::piece(const TrainingVariant& variant, std::uint64_t seed) {
  const std::string name = fmt::format("{} seed {}", variant.framework, seed);
  return variant.name.empty() ? name : variant.name + " " + name;
}

/// The recipes with all their values, and how long each trains, which their checksums leave out.
std::string KeptRuns::how_of(const std::vector<TrainingVariant>& variants, const std::string& how) {
  std::string text = "train " + how;
  for (const auto& variant : variants) {
    const TrainingOptions training = variant.recipe.training();
    text += fmt::format(" {} {} {} epochs {} batches {}", variant.framework, variant.name,
                        training.epochs, training.most_batches, variant.recipe.checksum());
  }
  return text;
}

void KeptRuns::finish(const std::vector<ComparedTraining>& trainings,
                      const std::vector<Measurement>& joined) {
  if (!journal_) return;
  Results all{environment(), {}, PiecewiseRun{.how = how_}};
  bool whole = true;
  for (std::size_t i = 0; i < trainings.size(); ++i) {
    const RepeatedRuns& runs = trainings[i].runs;
    whole = whole && !runs.interrupted;
    for (std::size_t run = 0; run < runs.records.size(); ++run) {
      if (!find(variants_[i], runs.seeds[run])) continue;  // interrupted: not done
      const auto& records = runs.records[run];
      all.run->pieces.push_back({piece(variants_[i], runs.seeds[run]), records.size()});
      all.measurements.insert(all.measurements.end(), records.begin(), records.end());
    }
  }
  all.measurements.insert(all.measurements.end(), joined.begin(), joined.end());
  using End = ResultJournal::End;
  journal_->finish(all, whole ? End::whole : End::cut_short);
}

std::vector<RepeatedRuns> run_all(const std::vector<TrainingVariant>& variants,
                                  const TrainOnce& train, const RepetitionOptions& repetition,
                                  KeptRuns& kept) {
  std::vector<RepeatedTraining> trainings;
  for (const auto& variant : variants) {
    trainings.push_back(
        {.name = variants.size() > 1 ? variant.name : "", .train = [&](std::uint64_t seed) {
           if (const auto* done = kept.find(variant, seed)) return *done;
           auto records = train({.name = variant.name,
                                 .recipe = with_seed(variant.recipe, seed),
                                 .framework = variant.framework});
           for (Measurement& record : records) {
             for (const auto& [key, text] : variant.differs) record.conditions[key] = text;
           }
           if (!repetition.interrupt.due()) kept.add(variant, seed, records);
           return records;
         }});
  }
  return repeat_trainings(trainings, repetition);
}

}  // namespace

TrainedVariants train_variants(const std::vector<TrainingVariant>& variants, const TrainOnce& train,
                               const VariantTrainingOptions& options) {
  KeptRuns kept(variants, options);
  auto runs = run_all(variants, train, options.repetition, kept);
  TrainedVariants done;
  const auto append = [&](const std::vector<Measurement>& records) {
    done.records.insert(done.records.end(), records.begin(), records.end());
  };
  for (std::size_t i = 0; i < variants.size(); ++i) {
    done.trainings.push_back({variants[i].name, std::move(runs[i])});
    done.joined.push_back(join_runs(done.trainings[i].runs));
    judge_convergence(done.joined.back(), variants[i].recipe);
    append(done.joined.back());
    if (options.compare && i > 0) append(compare_trainings(done.trainings[i], done.trainings[0]));
  }
  kept.finish(done.trainings, done.records);
  return done;
}

}  // namespace d5

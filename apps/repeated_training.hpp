// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apps/options.hpp"
#include "d5/core/result_journal.hpp"
#include "d5/level2_training/training_repetition.hpp"

namespace d5::app {

/// One training of several that a command makes, and by which word it is told from the others.
struct TrainingVariant {
  std::string name = {};
  Recipe recipe;
  std::string framework = "reference";
  std::map<std::string, std::string> differs = {};  ///< keys of the recipe, and what they are here
};

/// Trains variants from several seeds, keeps each run that is done beside `--out`, and goes on from
/// there.
class RepeatedTraining {
 public:
  using TrainOnce = std::function<std::vector<Measurement>(const TrainingVariant&)>;
  enum class Begin { anew, resumed };
  enum class Write { yes, no };  ///< no: another rank writes

  /// `how`: the options of all runs, which one that goes on must share.
  RepeatedTraining(std::vector<TrainingVariant> variants, TrainOnce train, std::string how);
  /// Throws: ValueError, IoError of the journal.
  void run(const RepetitionOptions& options, const OutputOptions& output, Begin begin, Write write);

  /// In the order of the variants.
  [[nodiscard]] const std::vector<RepeatedRuns>& runs() const { return runs_; }
  [[nodiscard]] const std::vector<TrainingVariant>& variants() const { return variants_; }
  /// Writes every run's records and behind them `joined`, prints these. Returns the exit status.
  int publish(const std::vector<Measurement>& joined, const OutputOptions& output, Write write);

 private:
  [[nodiscard]] std::string how() const;
  [[nodiscard]] std::string piece(const TrainingVariant& variant, std::uint64_t seed) const;

  std::vector<TrainingVariant> variants_;
  TrainOnce train_;
  std::string how_;
  std::vector<RepeatedRuns> runs_;
  std::shared_ptr<ResultJournal> journal_;
};

/// A variant for each value of "optimizer.name=adam,momentum". Throws: ValueError, and what
/// `Recipe::set` throws.
[[nodiscard]] std::vector<TrainingVariant> vary(const Recipe& recipe, const std::string& words);
/// A variant for each trial.
[[nodiscard]] std::vector<TrainingVariant> variants_of_trials(const Recipe& recipe,
                                                              std::int64_t trials);
/// Each of them in each framework.
[[nodiscard]] std::vector<TrainingVariant> in_each(const std::vector<TrainingVariant>& variants,
                                                   const std::vector<std::string>& frameworks);

/// "auto" is 0. Throws: ValueError for what is no number of runs.
[[nodiscard]] std::int64_t runs_of(const std::string& repeat);

}  // namespace d5::app

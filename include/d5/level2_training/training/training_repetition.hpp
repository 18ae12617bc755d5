// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/level2_training/training/recipe.hpp"
#include "d5/level2_training/training/training_session.hpp"

namespace d5 {

/// One training that is repeated: from each seed a run of its own.
struct RepeatedTraining {
  std::string name = {};  ///< for lines of progress; empty where there is one alone
  /// The records of a run, judged.
  std::function<std::vector<Measurement>(std::uint64_t seed)> train = {};
};

/// How often.
struct RepetitionOptions {
  std::int64_t runs = 0;  ///< 0: `fewest`, and more until the mean is known
  std::int64_t fewest = 5, most = 30;
  double half_width = 0.05;  ///< of the mean's 95% interval, in units of the mean: it is known then
  std::uint64_t seed = 0;    ///< of the first run; each other one's is the one before and 1
  /// Whose mean is to be known; empty: the first that there is of time_to_accuracy, test_accuracy
  /// and epoch_time.
  std::string metric = {};
  std::function<void(const std::string&)> say = {};  ///< gets a line a run; empty: quiet
  Interrupt interrupt = {};  ///< ends it; the run that it cuts is left out, unless it is the first
};

/// What the runs of one training gave: a list of records a run.
struct RepeatedRuns {
  std::vector<std::uint64_t> seeds;
  std::vector<std::vector<Measurement>> records = {};
  bool interrupted = false;
  bool compared = false;  ///< with other trainings: what was not reached is a finding, no failure
};

/// Repeats trainings, interleaved: all from the first seed, all from the second one. One alone ends
/// early where it has failed twice; of several all are made. Throws: ValueError for options out of
/// range.
[[nodiscard]] std::vector<RepeatedRuns> repeat_trainings(
    const std::vector<RepeatedTraining>& trainings, const RepetitionOptions& options);

/// The distribution over runs: one record a metric, a sample a run (its statistic of that run), in
/// the runs' order. The median stands for them; the conditions tell `runs`, `seeds`, how many
/// `converged`, the `mean` of these with Student's interval, and the `olympic_mean`.
///
/// A run whose record failed has not converged: one among three or more makes the record
/// mistrusted, a second one failed; of runs that are compared mistrusted, too, unless one of them
/// broke off. Where it has no sample and less is better, its sample is
/// infinite.
///
/// Source: Mattson et al., "MLPerf Training Benchmark" (MLSys 2020): time to quality is a
/// distribution over seeds.
[[nodiscard]] std::vector<Measurement> join_runs(const RepeatedRuns& runs);

/// A recipe from several seeds, in this process.
///
///     for (const Measurement& result : repeat_training(load_recipe("mnist-lenet"), {.runs = 5}))
[[nodiscard]] std::vector<Measurement> repeat_training(const Recipe& recipe,
                                                       RepetitionOptions options = {},
                                                       const SessionOptions& session = {});

/// `recipe` with another seed. Throws: ValueError where its seed, or all of its "training", is
/// fixed.
[[nodiscard]] Recipe with_seed(Recipe recipe, std::uint64_t seed);

}  // namespace d5

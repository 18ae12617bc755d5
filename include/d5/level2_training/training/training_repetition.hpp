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

/// A training that is repeated with different seeds.
struct RepeatedTraining {
  std::string name = {};  ///< prefix of progress lines; empty for a single training
  /// Trains once and returns the judged records.
  std::function<std::vector<Measurement>(std::uint64_t seed)> train = {};
};

/// Number of repetitions.
struct RepetitionOptions {
  std::int64_t runs = 0;  ///< 0: `fewest`, then more until the mean is known precisely
  std::int64_t fewest = 5, most = 30;
  /// Required half-width of the mean's 95% interval, relative to the mean.
  double half_width = 0.05;
  std::uint64_t seed = 0;  ///< seed of the first run; each further run adds 1
  /// Metric whose mean is needed; empty: the first available one of time_to_accuracy, test_accuracy
  /// and epoch_time.
  std::string metric = {};
  std::function<void(const std::string&)> say = {};  ///< gets one line per run; empty: quiet
  Interrupt interrupt = {};  ///< ends it; the unfinished run is dropped, unless it is the first
};

/// Results of the runs of one training: a list of records for each run.
struct RepeatedRuns {
  std::vector<std::uint64_t> seeds;
  std::vector<std::vector<Measurement>> records = {};
  bool interrupted = false;
  bool compared = false;  ///< compared with other trainings: a missed bound is a finding, not a
                          ///< failure
};

/// Repeats trainings, interleaved: all with the first seed, all with the second one, and so on. A
/// single training ends early after two failures; several are always completed.
/// Throws: ValueError for options out of range.
[[nodiscard]] std::vector<RepeatedRuns> repeat_trainings(
    const std::vector<RepeatedTraining>& trainings, const RepetitionOptions& options);

/// Distribution over runs: one record per metric, with one sample per run (its statistic of that
/// run), in the order of the runs. The statistic is the median. Conditions: `runs`, `seeds`, the
/// number that `converged`, their `mean` with Student's interval, and the `olympic_mean`.
///
/// A run with a failed record has not converged. One among three or more makes the joined record
/// mistrusted, a second one failed; in a comparison it stays mistrusted, unless a run was aborted.
/// A missing sample of a metric that should be small is infinite.
///
/// Source: Mattson et al., "MLPerf Training Benchmark" (MLSys 2020): time to quality is a
/// distribution over seeds.
[[nodiscard]] std::vector<Measurement> join_runs(const RepeatedRuns& runs);

/// Trains a recipe with several seeds, in this process.
///
///     for (const Measurement& result : repeat_training(load_recipe("mnist-lenet"), {.runs = 5}))
[[nodiscard]] std::vector<Measurement> repeat_training(const Recipe& recipe,
                                                       RepetitionOptions options = {},
                                                       const SessionOptions& session = {});

/// `recipe` with another seed. Throws: ValueError if its seed, or all of its "training", is fixed.
[[nodiscard]] Recipe with_seed(Recipe recipe, std::uint64_t seed);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/execution_options.hpp"
#include "apps/options.hpp"
#include "apps/rank_options.hpp"
#include "d5/level2_training/training/training_session.hpp"

namespace d5::app {

/// Options of `d5 train`.
struct TrainOptions : OutputOptions, RunOptions, ExecutionOptions {
  std::string recipe, data, checkpoint, init, save, repeat, vary, pictures;
  std::int64_t trials = 0;
  bool make_reference = false;
  std::vector<std::string> changes;
  bool resume = false, init_skip_differing = false, dry_run = false;
  std::int64_t checkpoint_every = 500, keep = 1;
  int loader_threads = 0;
  std::string distributed, scaling;  ///< scheme of distributed training, and "strong" or "weak";
                                     ///< empty: as the recipe says
  int launched_ranks = 0;            ///< number of ranks that d5 starts itself; 0: do not start any
  TrainingRankOptions ranks;

  void declare(OptionList& options);
};

/// Throws: ValueError for options that exclude each other.
void check(const TrainOptions& options);
/// Whether there are several runs, or one that is reported as such.
[[nodiscard]] bool is_repeated(const TrainOptions& options);
/// Throws: as `load_recipe` and `Recipe::set`.
[[nodiscard]] Recipe recipe_of(const TrainOptions& options);
/// Options of one run in the framework `word`.
[[nodiscard]] SessionOptions session_of(const TrainOptions& options, const std::string& word);

}  // namespace d5::app

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level2_training/training/training_session.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/prediction/profile/training_profile.hpp"

namespace d5 {

struct ProfileOptions {
  std::vector<std::int64_t> batches = {16};
  std::int64_t steps = 30;   ///< observed steps per batch size; the same number runs unobserved
  std::int64_t warm_up = 3;  ///< at most this number of steps first; only one if it takes a second
  /// Minimum time of the steps of each kind, reached by more steps (500 at most), because the speed
  /// of a machine varies over time. Units: s.
  double least_seconds = 0;
  /// Number of launches to be joined. With several, `joined_launches` checks whether all have
  /// enough steps together, and a deadline that leaves this launch few steps is not an
  /// interruption.
  int launches = 1;
  std::string optimizer = "sgd:learning_rate=1e-12";  ///< for a model; a recipe has its own
  std::vector<std::string> changes = {};              ///< for a recipe: "key=value"
  std::string data = {};                              ///< for a recipe: folder of its data set
  Interrupt interrupt = {};
  /// Called after each step, outside the timed region, with the batch size.
  std::function<void(std::int64_t batch)> on_step = {};
};
/// Number of steps that `profile_training` makes, for progress reports.
[[nodiscard]] std::int64_t profiled_steps(const ProfileOptions& options);

/// Profiles training steps of MODEL (`open_model`, on inputs that d5 makes) or RECIPE
/// (`load_recipe`, on its data), in the named framework. Observed steps, unobserved steps, and some
/// steps whose updates are timed one by one alternate, so that changes of the machine's speed
/// affect all three alike.
///
/// On several `ranks` each profiles its own copy at the same time; they communicate only before the
/// first step of a batch size and after its last. The profile has the samples of all ranks and is
/// the same on each.
///
/// An interrupt ends it after a step. If every begun batch size has two steps, the profile is
/// returned and marked as mistrusted.
/// Throws: Interrupted otherwise; ValueError for options out of range; Unsupported for a network
/// without a loss, and for an executor that announces no events; exceptions of opening.
[[nodiscard]] TrainingProfile profile_training(const std::string& model_or_recipe,
                                               const std::string& framework,
                                               const ProfileOptions& options,
                                               const ExecutorOptions& execution,
                                               Communicator& ranks);

/// Whether `word` names a recipe: a .yaml file or a built-in one.
[[nodiscard]] bool is_recipe(const std::string& word);
/// The batch size to profile if none is given: a recipe's own, after `changes`; 16 for a model.
/// Throws: as `load_recipe` and `Recipe::set`.
[[nodiscard]] std::int64_t usual_batch(const std::string& model_or_recipe,
                                       const std::vector<std::string>& changes = {});

}  // namespace d5

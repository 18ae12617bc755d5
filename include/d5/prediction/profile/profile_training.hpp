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
  std::int64_t steps = 30;   ///< observed of each batch size; as many again are not
  std::int64_t warm_up = 3;  ///< steps before them at most; one where it takes a second
  /// More of each kind, 500 at most, where `steps` take less together: a machine is slower for a
  /// while and faster for a while. Units: s.
  double least_seconds = 0;
  /// Of which this is one: `joined_launches` judges whether they have enough steps together, and a
  /// deadline that leaves this one few is no interruption.
  int launches = 1;
  std::string optimizer = "sgd:learning_rate=1e-12";  ///< of a model; a recipe has its own
  std::vector<std::string> changes = {};              ///< of a recipe: "key=value"
  std::string data = {};                              ///< of a recipe: folder of its data set
  Interrupt interrupt = {};
  /// Called after each step, outside of the clock, with the batch size.
  std::function<void(std::int64_t batch)> on_step = {};
};
/// How many steps `profile_training` makes, for who says how far it is.
[[nodiscard]] std::int64_t profiled_steps(const ProfileOptions& options);

/// Profiles training steps of MODEL (`open_model`, on inputs that d5 makes) or RECIPE
/// (`load_recipe`, on its data), in the framework that a word names. Steps that are observed, steps
/// that are not, and now and then one whose updates are timed one by one take turns, so that the
/// three are of one time of the machine.
///
/// On several `ranks` each profiles a copy of its own at the same time, and they talk only before
/// the first step of a batch size and after its last; the profile, the same on each, has the
/// samples of all.
///
/// An interrupt ends it after a step: what it has is kept, mistrusted, if every batch size that was
/// begun has two steps. Throws: Interrupted otherwise; ValueError for options out of range;
/// Unsupported for a network without a loss, for an executor that announces nothing; what opening
/// throws.
[[nodiscard]] TrainingProfile profile_training(const std::string& model_or_recipe,
                                               const std::string& framework,
                                               const ProfileOptions& options,
                                               const ExecutorOptions& execution,
                                               Communicator& ranks);

/// Whether `word` names a recipe: a .yaml file, or one that d5 carries.
[[nodiscard]] bool is_recipe(const std::string& word);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "d5/prediction/profile/profile_training.hpp"

namespace d5 {

/// A training step that can be repeated.
class ProfiledStep {
 public:
  virtual ~ProfiledStep() = default;
  [[nodiscard]] virtual Optimizer& optimizer() = 0;
  /// The next batch; valid until the next call.
  [[nodiscard]] virtual const Batch& next() = 0;
  [[nodiscard]] virtual bool loads() const = 0;  ///< `next` reads data
  [[nodiscard]] virtual std::string optimizer_name() const = 0;
};

/// Throws: as `profile_training`.
[[nodiscard]] std::unique_ptr<ProfiledStep> open_profiled_step(const std::string& model_or_recipe,
                                                               const std::string& framework,
                                                               std::int64_t batch,
                                                               const ProfileOptions& options,
                                                               const ExecutorOptions& execution);

/// The recipe after `changes`, with batches of `batch` samples.
/// Throws: as `load_recipe` and `Recipe::set`.
[[nodiscard]] Recipe recipe_to_profile(const std::string& file_or_name,
                                       const std::vector<std::string>& changes, std::int64_t batch);

/// Throws: ValueError for changes or data, which are a recipe's, beside a model.
void expect_no_recipe_options(const std::string& model, const std::vector<std::string>& changes,
                              const std::string& data);

constexpr double kWarmAfter = 1;  ///< a step of this length warms everything; s

/// The number of steps for `options`, if a step takes `once` seconds on the slowest rank; 0:
/// unknown. The same on every rank. A collective.
[[nodiscard]] std::int64_t steps_wanted(const ProfileOptions& options, double once,
                                        Communicator& ranks);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "d5/prediction/profile/profile_training.hpp"

namespace d5 {

/// A training step that can be made again and again.
class ProfiledStep {
 public:
  virtual ~ProfiledStep() = default;
  [[nodiscard]] virtual Optimizer& optimizer() = 0;
  /// What the next step is fed; valid until the next call.
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

constexpr double kWarmAfter = 1;  ///< a step as long leaves nothing cold; s

/// How many steps `options` ask for, each of which takes `once`, in s, on the slowest rank; 0: not
/// known. The same on every rank. A collective.
[[nodiscard]] std::int64_t steps_wanted(const ProfileOptions& options, double once,
                                        Communicator& ranks);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "d5/prediction/profile/training_profile.hpp"

namespace d5 {

struct CostProfileOptions {
  std::int64_t batch = 1;
  double step_seconds = 0;    ///< that a whole step is known to take
  double flop_per_byte = 0;   ///< that take the time of a byte; 0: FLOP alone count
  double switch_seconds = 0;  ///< before each node's step
};

/// A profile that nobody measured: each node of MODEL takes its share of the step by its work
/// (`summarise`), backward once more for each of its two gradients, that of its weights and that of
/// what it reads; an update by two FLOP an element.
///
/// Throws: ValueError for options out of range, or switches that take longer than the step;
/// Unsupported for a network without parameters, or with nodes of unknown work; what opening the
/// model throws.
[[nodiscard]] TrainingProfile profile_from_cost(const std::string& model,
                                                const CostProfileOptions& options);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "d5/prediction/profile/training_profile.hpp"

namespace d5 {

struct CostProfileOptions {
  std::int64_t batch = 1;
  double step_seconds = 0;    ///< known time of a whole step
  double flop_per_byte = 0;   ///< FLOP that take as long as one byte; 0: bytes are free
  double switch_seconds = 0;  ///< overhead before each node
};

/// A profile from costs instead of measurements. Each node of MODEL takes a share of the step in
/// proportion to its work (`summarise`): once forward, and backward once for the gradient of its
/// weights and once for that of its inputs. An update has two FLOP per element.
///
/// Throws: ValueError for options out of range, or overheads longer than the step; Unsupported for
/// a network without parameters, or with nodes of unknown work; exceptions of opening the model.
[[nodiscard]] TrainingProfile profile_from_cost(const std::string& model,
                                                const CostProfileOptions& options);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/prediction/profile/training_profile.hpp"

namespace d5 {

struct CostProfileOptions {
  std::int64_t batch = 1;
  double step_seconds = 0;                ///< known time of a whole step
  double flop_per_byte = 0;               ///< FLOP that take as long as one byte; 0: bytes are free
  double switch_seconds = 0;              ///< overhead before each node
  std::vector<std::string> changes = {};  ///< for a recipe: "key=value"
  std::string data = {};                  ///< for a recipe: folder of its data set
};

/// A profile from costs instead of measurements. Each node of MODEL, or of RECIPE's network, takes
/// a share of the step in proportion to its work (`summarise`): once forward, and backward once for
/// the gradient of its weights and once for that of its inputs. An update has two FLOP per element.
/// The loading of a recipe's data has no cost.
///
/// Throws: ValueError for options out of range, or overheads longer than the step; Unsupported for
/// a network without parameters, or with nodes of unknown work; exceptions of opening.
[[nodiscard]] TrainingProfile profile_from_cost(const std::string& model_or_recipe,
                                                const CostProfileOptions& options);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "d5/level2_training/optimization/loss_weight.hpp"
#include "d5/level2_training/training/accuracy.hpp"

namespace d5::detail {

/// The value called `name` among a network's outputs or a batch's fields.
/// Throws: NotFound, listing what there is.
[[nodiscard]] const Tensor& named(const ValueMap& values, const std::string& name,
                                  const char* kind);

/// Targets of a batch that count, and how many of them scores have among the k largest.
struct RightTargets {
  std::int64_t right = 0, seen = 0;
};
/// None of a rank's share without samples. Throws: as `named`, `count_right`.
[[nodiscard]] RightTargets count_targets(LossWeight& loss, const ClassificationNames& names,
                                         const Batch& batch, const ValueMap& outputs,
                                         const std::string& metric, std::int64_t k = 1);
/// Makes `label` the field of classes in the training set: itself where it is there, or where it
/// is the usual name the only field of integers that the network's answers are not made of.
/// Throws: as `ClassificationNames::resolve`.
void resolve_label(std::string& label, const Trainer& trainer, const std::string& who,
                   const std::string& logits = {});

}  // namespace d5::detail

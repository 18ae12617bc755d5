// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "d5/level2_training/optimization/loss_weight.hpp"
#include "d5/level2_training/training/accuracy.hpp"

namespace d5::detail {

/// The value called `name` among a network's outputs or a batch's fields.
/// Throws: NotFound with the existing names.
[[nodiscard]] const Tensor& named(const ValueMap& values, const std::string& name,
                                  const char* kind);

/// Number of a batch's counted targets, and of those among the k best scores.
struct RightTargets {
  std::int64_t right = 0, seen = 0;
};
/// Zero for an empty share of a rank. Throws: as `named`, `count_right`.
[[nodiscard]] RightTargets count_targets(LossWeight& loss, const ClassificationNames& names,
                                         const Batch& batch, const ValueMap& outputs,
                                         const std::string& metric, std::int64_t k = 1);
/// Resolves `label` to the field of classes in the training set: itself if it exists; if it is the
/// usual name, the only field of integers that the network's outputs do not depend on.
/// Throws: as `ClassificationNames::resolve`.
void resolve_label(std::string& label, const Trainer& trainer, const std::string& who,
                   const std::string& logits = {});

}  // namespace d5::detail

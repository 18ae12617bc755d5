// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {

/// The best `count` classes of each sample, the highest score first, as texts "SCORE:INDEX"; of
/// equal scores the lower index comes first, and NaN comes last.
///
/// Shapes: scores are samples x ..., flattened behind the first dimension; the result is samples x
/// min(count, scores of a sample). Source: Triton, "Classification Extension". `output` is the name
/// in messages. Throws: ValueError for a count below 1; TypeError for scores that are no numbers;
/// ShapeError for a scalar.
[[nodiscard]] Tensor best_classes(const std::string& output, const Tensor& scores,
                                  std::int64_t count);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "d5/level2_training/data/dataset.hpp"

namespace d5::detail {

/// Throws: ValueError for an index out of range.
void check_index(const Dataset& dataset, std::int64_t index);

/// Checks the arguments of `Dataset::read`.
/// Throws: ValueError for an index out of range; ShapeError, TypeError for a tensor that does not
/// fit its field.
void check_batch(const Dataset& dataset, std::span<const std::int64_t> indices,
                 std::span<const Tensor> batch);

}  // namespace d5::detail

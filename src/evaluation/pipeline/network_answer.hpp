// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "d5/core/tensor/value.hpp"

namespace d5::detail {

/// Throws: ShapeError if an output has not one row for each sample of the batch.
void expect_batch(const ValueMap& outputs, std::int64_t batch);

/// Throws: NumericError for NaN in what a network answered, with the output's name and the place.
void expect_numbers(const ValueMap& answer);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "d5/core/tensor/value.hpp"

namespace d5::detail {

/// Throws: ShapeError if dimension `axis` of an output has not one row for each sample of the
/// batch; with an axis below 0, if there are several samples.
void expect_batch(const std::string& output, const Tensor& tensor, std::int64_t axis,
                  std::int64_t batch);

/// Throws: NumericError for NaN in what a network answered, with the output's name and the place.
void expect_numbers(const ValueMap& answer);

}  // namespace d5::detail

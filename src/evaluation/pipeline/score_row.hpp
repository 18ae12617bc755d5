// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {

/// The elements of one sample's scores: float16, float32 or float64 of any shape.
/// Throws: TypeError for another type; `who` is the step.
[[nodiscard]] std::vector<double> score_row(const Tensor& scores, const std::string& who);

}  // namespace d5::detail

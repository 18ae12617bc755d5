// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {

/// The same numbers in a shorter type. The limits of float32, which mean "as low as possible" in
/// masks, become the limits of that type.
[[nodiscard]] Tensor shortened(const Tensor& value, DType dtype);

enum class Ends { become_ends, are_numbers };

/// Describes what a shorter type loses of a float32 tensor: a number beyond its range ("holds
/// 1e+06, which float16 cannot"), or the whole tensor if the largest number loses more than a
/// sixteenth ("holds 1e-12 at most, which is 0 in float16"). Empty if it fits. Rounding of small
/// numbers beside large ones is accepted.
[[nodiscard]] std::string lost_in(const Tensor& value, DType dtype, Ends ends = Ends::become_ends);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {

/// Variation of a tensor, of the same type and shape.
enum class Variation {
  scaled,  ///< reversed elements; reals times numbers from 0.5 to 1.5, 0 becomes small
  turned,  ///< `scaled` with the opposite sign; integers above 1 minus 1, booleans negated
};

/// A varied copy on the host, which shows whether an output depends on the tensor. Sub-byte
/// elements, and those that are not numbers, are unchanged.
[[nodiscard]] Tensor varied(const Tensor& tensor, Variation variation, std::uint64_t seed);

}  // namespace d5::detail

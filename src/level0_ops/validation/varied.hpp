// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {

/// How a tensor becomes another of its type and shape.
enum class Variation {
  scaled,  ///< elements in the opposite order; reals times numbers from 0.5 to 1.5, 0 becomes small
  turned,  ///< the same with the opposite sign; whole numbers above 1 one less, truths denied
};

/// What an output depends on shows where it moves with it. Elements of less than a byte, and those
/// that hold no numbers, stay. In memory of its own on the host.
[[nodiscard]] Tensor varied(const Tensor& tensor, Variation variation, std::uint64_t seed);

}  // namespace d5::detail

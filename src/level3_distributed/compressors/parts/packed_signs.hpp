// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "level3_distributed/compressors/parts/packed_codes.hpp"

namespace d5::detail {

/// Packs one bit per element, 1 for a negative value; -0 is negative.
void pack_signs(std::span<const float> values, std::span<std::uint8_t> packed);
/// Adds +magnitude or -magnitude to each value, by its bit.
void add_signs(std::span<const std::uint8_t> packed, float magnitude, std::span<float> values);

}  // namespace d5::detail

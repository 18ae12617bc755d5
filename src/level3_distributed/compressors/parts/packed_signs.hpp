// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "level3_distributed/compressors/parts/packed_codes.hpp"

namespace d5::detail {

/// A bit an element, 1 for minus; -0 is minus.
void pack_signs(std::span<const float> values, std::span<std::uint8_t> packed);
/// values += magnitude with the sign of each bit.
void add_signs(std::span<const std::uint8_t> packed, float magnitude, std::span<float> values);

}  // namespace d5::detail

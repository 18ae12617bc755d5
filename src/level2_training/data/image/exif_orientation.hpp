// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "d5/core/image/image.hpp"

namespace d5::detail {

/// Exif orientation of a JPEG: 1 to 8; 1 if it is missing or invalid.
/// Source: CIPA DC-008, "Exchangeable image file format" (Exif 2.32), tag 274.
[[nodiscard]] int exif_orientation(std::span<const std::byte> jpeg);

/// Size of an image of that orientation after rotating it upright.
[[nodiscard]] ImageSize upright_size(const ImageSize& size, int orientation);
/// Writes `pixels`, height x width x 3 of `size`, rotated upright.
void write_upright(const std::uint8_t* pixels, const ImageSize& size, int orientation,
                   std::uint8_t* out);

}  // namespace d5::detail

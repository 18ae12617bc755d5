// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

// Changes of RGB images of bytes, in place; the arithmetic is that of torchvision on uint8: what is
// between two bytes is cut off.
namespace d5::detail {

/// Times `factor`.
void change_brightness(std::span<std::uint8_t> rgb, double factor);
/// Away from the mean of the grey image, for a factor above 1.
void change_contrast(std::span<std::uint8_t> rgb, double factor);
/// Away from the grey image.
void change_saturation(std::span<std::uint8_t> rgb, double factor);
/// Around the circle of hues by `turns` of it.
void change_hue(std::span<std::uint8_t> rgb, double turns);

}  // namespace d5::detail

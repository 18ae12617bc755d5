// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "d5/core/tensor.hpp"

namespace d5 {

/// What the channels of a decoded image are; grayscale is the luma of ITU-R BT.601.
enum class PixelFormat { rgb, bgr, grayscale };

/// Larger images are refused before memory is taken for them.
inline constexpr std::int64_t kMostImagePixels = std::int64_t{1} << 27;

/// The image that an encoded one stands for: uint8, height x width x channels. Its first bytes tell
/// the format: BMP, JPEG, JPEG 2000, PNG, PNM (P1 to P6), TIFF or WebP. Channels of other depths
/// are scaled to 8 bits, transparency is left out.
///
///     const Tensor image = decode_image(std::as_bytes(std::span(content)), PixelFormat::bgr);
///
/// Throws: FormatError for bytes that are no image, or a damaged one; Unsupported for what is not
/// decoded here: a format whose library d5 was built without, too many pixels.
[[nodiscard]] Tensor decode_image(std::span<const std::byte> bytes,
                                  PixelFormat format = PixelFormat::rgb);

/// A PNG file of `image`: uint8, height x width x 3, red first.
/// Throws: ShapeError for another tensor, Unsupported above `kMostImagePixels`.
[[nodiscard]] std::string encode_png(const Tensor& image);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "d5/core/tensor/tensor.hpp"

namespace d5 {

/// What the channels of a decoded image are; grayscale is the luma of ITU-R BT.601.
enum class PixelFormat { rgb, bgr, grayscale };

/// Larger images are refused before memory is taken for them: what Pillow calls a bomb.
inline constexpr std::int64_t kMostImagePixels = 178'956'970;

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

struct ImageSize {
  std::int64_t height = 0, width = 0;
  bool operator==(const ImageSize&) const = default;
};

/// A rectangle of an image, in pixels of the image at `eighths`/8 of its size.
struct ImagePart {
  std::int64_t top = 0, left = 0, height = 0, width = 0;
  int eighths = 8;
};

/// What an image is at `eighths`/8 of its size: rounded up.
[[nodiscard]] constexpr ImageSize scaled(const ImageSize& size, int eighths) {
  return {(size.height * eighths + 7) / 8, (size.width * eighths + 7) / 8};
}

/// RGB pixels in memory of somebody else's; rows begin `stride` bytes after each other.
struct PixelRows {
  std::uint8_t* data = nullptr;
  std::int64_t stride = 0;
};

namespace detail {
class ImageReader;
}

/// Decodes one image after another, or parts of them, with memory that it keeps.
///
///     const ImageSize size = decoder.open(bytes);
///     decoder.read({.height = size.height, .width = size.width}, rgb);
///
/// Thread safety: one thread at a time.
class ImageDecoder {
 public:
  ImageDecoder();
  ~ImageDecoder();
  ImageDecoder(ImageDecoder&&) noexcept;
  ImageDecoder& operator=(ImageDecoder&&) noexcept;

  /// Reads the header; `bytes` are read until the next `open`.
  /// Throws: as `decode_image`, with `most_pixels` in place of its bound.
  ImageSize open(std::span<const std::byte> bytes, std::int64_t most_pixels = kMostImagePixels);
  /// True if the format decodes an image at fewer than 8 eighths for less work: a JPEG, whose
  /// cosine transforms leave out what is too fine.
  [[nodiscard]] bool scales() const;
  /// Writes `part`, RGB: `part.height` x `part.width` x 3 values; once for each `open`. The pixels
  /// are those that decoding all of the image at that size gives, to the bit. What lies behind the
  /// part in the file is not looked at, so damage there is not seen.
  /// Throws: FormatError for a damaged image; ValueError for a part outside of the image, or
  /// eighths that are none of 1 to 8, or not 8 where `scales` says no.
  void read(const ImagePart& part, std::span<std::uint8_t> rgb);
  /// The same pixels without a copy: in memory of the decoder, until it opens another image; rows
  /// may be longer than the part's.
  [[nodiscard]] PixelRows rows(const ImagePart& part);

 private:
  void check(const ImagePart& part) const;

  std::vector<std::unique_ptr<detail::ImageReader>> readers_;  // a place for each format
  detail::ImageReader* reader_ = nullptr;
  ImageSize size_;
};

/// A PNG file of `image`: uint8, height x width x 3, red first.
/// Throws: ShapeError for another tensor, Unsupported above `kMostImagePixels`.
[[nodiscard]] std::string encode_png(const Tensor& image);

}  // namespace d5

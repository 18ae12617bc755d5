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

/// Channels of a decoded image. Grayscale is the luma of ITU-R BT.601.
enum class PixelFormat { rgb, bgr, grayscale };

/// Limit against decompression bombs, as in Pillow: larger images are refused before memory is
/// allocated.
inline constexpr std::int64_t kMostImagePixels = 178'956'970;

/// Decodes an image to uint8, height x width x channels. The first bytes determine the format: BMP,
/// JPEG, JPEG 2000, PNG, PNM (P1 to P6), TIFF or WebP. Other channel depths are scaled to 8 bits,
/// the alpha channel is dropped.
///
///     const Tensor image = decode_image(std::as_bytes(std::span(content)), PixelFormat::bgr);
///
/// Throws: FormatError for a damaged image or an unknown format; Unsupported for too many pixels,
/// or a format whose library d5 was built without.
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

/// An image's size at `eighths`/8, rounded up.
[[nodiscard]] constexpr ImageSize scaled(const ImageSize& size, int eighths) {
  return {(size.height * eighths + 7) / 8, (size.width * eighths + 7) / 8};
}

/// A view of RGB pixels. Rows begin `stride` bytes apart.
struct PixelRows {
  std::uint8_t* data = nullptr;
  std::int64_t stride = 0;
};

namespace detail {
class ImageReader;
}

/// Decodes images, or parts of them, one after another, and reuses its memory.
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

  /// Reads the header. `bytes` must live until the next `open`.
  /// Throws: as `decode_image`, with `most_pixels` in place of its bound.
  ImageSize open(std::span<const std::byte> bytes, std::int64_t most_pixels = kMostImagePixels);
  /// True if decoding at less than full size is cheaper: JPEG, by smaller inverse cosine
  /// transforms.
  [[nodiscard]] bool scales() const;
  /// Writes `part` as RGB, `part.height` x `part.width` x 3 values; at most once after each `open`.
  /// The pixels equal those of the whole image decoded at that size, bit by bit. Data after the
  /// part in the file is not read, so damage there stays unnoticed.
  /// Throws: FormatError for a damaged image; ValueError for a part outside the image, eighths
  /// outside 1 to 8, or eighths other than 8 if the format does not scale (`scales`).
  void read(const ImagePart& part, std::span<std::uint8_t> rgb);
  /// The same pixels without a copy, in the decoder's memory, valid until the next `open`. Rows may
  /// be longer than the part's.
  [[nodiscard]] PixelRows rows(const ImagePart& part);

 private:
  void check(const ImagePart& part) const;

  std::vector<std::unique_ptr<detail::ImageReader>> readers_;  // one entry per format
  detail::ImageReader* reader_ = nullptr;
  ImageSize size_;
};

/// Encodes `image` as PNG. `image` is uint8, height x width x 3, RGB.
/// Throws: ShapeError for another tensor, Unsupported above `kMostImagePixels`.
[[nodiscard]] std::string encode_png(const Tensor& image);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "d5/core/image/image.hpp"
#include "d5/core/tensor/tensor.hpp"

// Decoders of all formats, to RGB.
namespace d5::detail {

using ImageBytes = std::span<const std::uint8_t>;

/// Memory for an image: uint8, height x width x 3.
/// Throws: FormatError for an empty image, Unsupported above `kMostImagePixels`.
[[nodiscard]] Tensor rgb_image(std::int64_t height, std::int64_t width);

/// Throws: FormatError: "a PNG image is damaged: it ends early; fetch it again".
[[noreturn]] void throw_damaged(std::string_view format, std::string_view reason);

/// `value` of [0, most] scaled to 8 bits.
[[nodiscard]] inline std::uint8_t to_8_bits(std::uint64_t value, std::uint64_t most) {
  return std::uint8_t((value * 255 + most / 2) / most);
}

/// Reads images of one format, one after another, for `ImageDecoder`. Parts passed to `read` must
/// be inside the image.
class ImageReader {
 public:
  virtual ~ImageReader() = default;
  virtual ImageSize open(ImageBytes bytes) = 0;
  /// Called after the header was checked, also for the image's size.
  virtual void read(const ImagePart& part, std::uint8_t* rgb) = 0;
  /// The same pixels, in memory that is valid until another image is read.
  virtual PixelRows rows(const ImagePart& part) {
    kept_.resize(std::size_t(3 * part.height * part.width));
    read(part, kept_.data());
    return {.data = kept_.data(), .stride = 3 * part.width};
  }
  [[nodiscard]] virtual bool scales() const { return false; }

 protected:
  std::vector<std::uint8_t> kept_;
};

// Readers throw FormatError for a damaged image; Unsupported for an unsupported variant, and if d5
// was built without the library.
[[nodiscard]] std::unique_ptr<ImageReader> jpeg_reader();
[[nodiscard]] std::unique_ptr<ImageReader> png_reader();
// Formats that can only be decoded as a whole.
[[nodiscard]] Tensor decode_bmp(ImageBytes bytes);
[[nodiscard]] Tensor decode_jpeg2000(ImageBytes bytes);
[[nodiscard]] Tensor decode_pnm(ImageBytes bytes);
[[nodiscard]] Tensor decode_tiff(ImageBytes bytes);
[[nodiscard]] Tensor decode_webp(ImageBytes bytes);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/image/image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/image/format.hpp"
#include "d5/core/errors/error.hpp"

namespace d5 {
namespace detail {

Tensor rgb_image(std::int64_t height, std::int64_t width) {
  if (height < 1 || width < 1) throw FormatError("image: it has no pixels");
  if (height > kMostImagePixels / width) {
    throw Unsupported(fmt::format("image: it has {} x {} pixels, at most {} are decoded", height,
                                  width, kMostImagePixels));
  }
  return Tensor::empty(DType::uint8, {height, width, 3});
}

void throw_damaged(std::string_view format, std::string_view reason) {
  throw FormatError(
      fmt::format("image: a {} image is damaged: {}; fetch it again", format, printable(reason)));
}

}  // namespace detail

namespace {

using detail::ImageBytes;
using detail::ImageReader;
using namespace std::string_view_literals;

/// Reader of a format that can only be decoded as a whole.
template <auto decode>
class WholeImageReader final : public ImageReader {
 public:
  ImageSize open(ImageBytes bytes) override {
    image_ = decode(bytes);
    return {image_.shape()[0], image_.shape()[1]};
  }
  void read(const ImagePart& part, std::uint8_t* rgb) override {
    const std::int64_t row = 3 * image_.shape()[1];
    const std::uint8_t* from = image_.data<std::uint8_t>() + part.top * row + 3 * part.left;
    for (std::int64_t y = 0; y < part.height; ++y, from += row) {
      rgb = std::copy_n(from, 3 * part.width, rgb);
    }
    image_ = {};
  }

 private:
  Tensor image_;
};

template <auto decode>
std::unique_ptr<ImageReader> whole() {
  return std::make_unique<WholeImageReader<decode>>();
}

struct KnownFormat {
  std::string_view begin;  // ? matches any byte
  std::unique_ptr<ImageReader> (*reader)();
};
constexpr std::array kFormats{
    KnownFormat{"BM"sv, whole<detail::decode_bmp>},
    KnownFormat{"\xff\xd8\xff"sv, detail::jpeg_reader},
    KnownFormat{"\0\0\0\x0cjP  \r\n\x87\n"sv, whole<detail::decode_jpeg2000>},
    KnownFormat{"\xff\x4f\xff\x51"sv, whole<detail::decode_jpeg2000>},  // raw codestream
    KnownFormat{"\x89PNG\r\n\x1a\n"sv, detail::png_reader},
    KnownFormat{"P1"sv, whole<detail::decode_pnm>},
    KnownFormat{"P2"sv, whole<detail::decode_pnm>},
    KnownFormat{"P3"sv, whole<detail::decode_pnm>},
    KnownFormat{"P4"sv, whole<detail::decode_pnm>},
    KnownFormat{"P5"sv, whole<detail::decode_pnm>},
    KnownFormat{"P6"sv, whole<detail::decode_pnm>},
    KnownFormat{"II*\0"sv, whole<detail::decode_tiff>},
    KnownFormat{"MM\0*"sv, whole<detail::decode_tiff>},
    KnownFormat{"II+\0"sv, whole<detail::decode_tiff>},  // more than 4 GiB
    KnownFormat{"MM\0+"sv, whole<detail::decode_tiff>},
    KnownFormat{"RIFF????WEBP"sv, whole<detail::decode_webp>},
};

bool begins_with(ImageBytes bytes, std::string_view signature) {
  return bytes.size() >= signature.size() &&
         std::equal(signature.begin(), signature.end(), bytes.begin(),
                    [](char s, std::uint8_t b) { return s == '?' || std::uint8_t(s) == b; });
}

Tensor luma(const Tensor& rgb) {
  Tensor result = Tensor::empty(DType::uint8, {rgb.shape()[0], rgb.shape()[1], 1});
  const std::uint8_t* from = rgb.data<std::uint8_t>();
  for (std::uint8_t& y : result.span<std::uint8_t>()) {
    // Weights 0.299, 0.587 and 0.114 in 16 bits.
    y = std::uint8_t((from[0] * 19595U + from[1] * 38470U + from[2] * 7471U + 0x8000U) >> 16);
    from += 3;
  }
  return result;
}

}  // namespace

ImageDecoder::ImageDecoder() : readers_(kFormats.size()) {}
ImageDecoder::~ImageDecoder() = default;
ImageDecoder::ImageDecoder(ImageDecoder&&) noexcept = default;
ImageDecoder& ImageDecoder::operator=(ImageDecoder&&) noexcept = default;

ImageSize ImageDecoder::open(std::span<const std::byte> bytes, std::int64_t most_pixels) {
  reader_ = nullptr;
  const ImageBytes image(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  const auto* const found =
      std::find_if(kFormats.begin(), kFormats.end(),
                   [&](const KnownFormat& f) { return begins_with(image, f.begin); });
  if (found == kFormats.end()) {
    throw FormatError(
        fmt::format("image: {} bytes that do not begin as an image, expected BMP, JPEG, JPEG 2000, "
                    "PNG, PNM (P1 to P6), TIFF or WebP",
                    bytes.size()));
  }
  auto& reader = readers_[std::size_t(found - kFormats.begin())];
  if (!reader) reader = found->reader();
  size_ = reader->open(image);
  if (size_.height < 1 || size_.width < 1) throw FormatError("image: it has no pixels");
  if (size_.height > most_pixels / size_.width) {
    throw Unsupported(fmt::format("image: it has {} x {} pixels, at most {} are decoded",
                                  size_.height, size_.width, most_pixels));
  }
  reader_ = reader.get();
  return size_;
}

bool ImageDecoder::scales() const { return reader_ && reader_->scales(); }

void ImageDecoder::check(const ImagePart& part) const {
  if (!reader_) throw ValueError("image: no unread image is open; open one");
  const auto& [top, left, height, width, eighths] = part;
  if (eighths < 1 || eighths > 8 || (eighths != 8 && !reader_->scales())) {
    throw ValueError(fmt::format("image: {}/8 of its size was requested, expected {}", eighths,
                                 reader_->scales() ? "1/8 to 8/8" : "8/8 of this format"));
  }
  const ImageSize all = scaled(size_, eighths);
  const bool inside = top >= 0 && left >= 0 && height >= 1 && width >= 1 && height <= all.height &&
                      top <= all.height - height && width <= all.width && left <= all.width - width;
  if (!inside) {
    throw ValueError(
        fmt::format("image: {} x {} pixels from row {}, column {} of {} x {} were requested",
                    height, width, top, left, all.height, all.width));
  }
}

void ImageDecoder::read(const ImagePart& part, std::span<std::uint8_t> rgb) {
  check(part);
  if (std::int64_t(rgb.size()) != 3 * part.height * part.width) {
    throw ValueError(fmt::format("image: {} x {} pixels were requested into {} values, expected {}",
                                 part.height, part.width, rgb.size(),
                                 3 * part.height * part.width));
  }
  std::exchange(reader_, nullptr)->read(part, rgb.data());
}

PixelRows ImageDecoder::rows(const ImagePart& part) {
  check(part);
  return std::exchange(reader_, nullptr)->rows(part);
}

Tensor decode_image(std::span<const std::byte> bytes, PixelFormat format) {
  ImageDecoder decoder;
  const auto [height, width] = decoder.open(bytes);
  Tensor rgb = detail::rgb_image(height, width);
  decoder.read({.height = height, .width = width}, rgb.span<std::uint8_t>());
  if (format == PixelFormat::grayscale) return luma(rgb);
  if (format == PixelFormat::bgr) {
    const auto values = rgb.span<std::uint8_t>();
    for (std::size_t i = 0; i < values.size(); i += 3) std::swap(values[i], values[i + 2]);
  }
  return rgb;
}

}  // namespace d5

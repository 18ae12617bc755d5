// SPDX-License-Identifier: Apache-2.0
#include "d5/core/image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/image/format.hpp"
#include "d5/core/error.hpp"

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
using namespace std::string_view_literals;

struct Signature {
  std::string_view bytes;  // ? stands for any
  Tensor (*decode)(ImageBytes);
};
constexpr std::array kSignatures{
    Signature{"BM"sv, detail::decode_bmp},
    Signature{"\xff\xd8\xff"sv, detail::decode_jpeg},
    Signature{"\0\0\0\x0cjP  \r\n\x87\n"sv, detail::decode_jpeg2000},
    Signature{"\xff\x4f\xff\x51"sv, detail::decode_jpeg2000},  // a codestream alone
    Signature{"\x89PNG\r\n\x1a\n"sv, detail::decode_png},
    Signature{"P1"sv, detail::decode_pnm},
    Signature{"P2"sv, detail::decode_pnm},
    Signature{"P3"sv, detail::decode_pnm},
    Signature{"P4"sv, detail::decode_pnm},
    Signature{"P5"sv, detail::decode_pnm},
    Signature{"P6"sv, detail::decode_pnm},
    Signature{"II*\0"sv, detail::decode_tiff},
    Signature{"MM\0*"sv, detail::decode_tiff},
    Signature{"II+\0"sv, detail::decode_tiff},  // more than 4 GiB
    Signature{"MM\0+"sv, detail::decode_tiff},
    Signature{"RIFF????WEBP"sv, detail::decode_webp},
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
    // 0.299, 0.587 and 0.114 in 16 bits.
    y = std::uint8_t((from[0] * 19595U + from[1] * 38470U + from[2] * 7471U + 0x8000U) >> 16);
    from += 3;
  }
  return result;
}

}  // namespace

Tensor decode_image(std::span<const std::byte> bytes, PixelFormat format) {
  const ImageBytes image(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  const auto found = std::find_if(kSignatures.begin(), kSignatures.end(),
                                  [&](const Signature& s) { return begins_with(image, s.bytes); });
  if (found == kSignatures.end()) {
    throw FormatError(
        fmt::format("image: {} bytes that do not begin as an image, expected BMP, JPEG, JPEG 2000, "
                    "PNG, PNM (P1 to P6), TIFF or WebP",
                    bytes.size()));
  }
  Tensor rgb = found->decode(image);
  if (format == PixelFormat::grayscale) return luma(rgb);
  if (format == PixelFormat::bgr) {
    const auto values = rgb.span<std::uint8_t>();
    for (std::size_t i = 0; i < values.size(); i += 3) std::swap(values[i], values[i + 2]);
  }
  return rgb;
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
// Source: W3C, "Portable Network Graphics (PNG) Specification" (third edition, 2025).
#include <fmt/format.h>
#include <zlib.h>

#include <string>
#include <string_view>

#include "d5/core/errors/error.hpp"
#include "d5/core/image/image.hpp"

namespace d5 {
namespace {

void append_number(std::string& to, std::size_t number) {
  for (const int shift : {24, 16, 8, 0}) to += char(number >> shift & 0xff);
}

/// Length, type, data, and a checksum of the last two.
void append_chunk(std::string& png, std::string_view type, std::string_view data) {
  append_number(png, data.size());
  const std::size_t begin = png.size();
  png.append(type).append(data);
  const auto* bytes = reinterpret_cast<const Bytef*>(png.data() + begin);
  append_number(png, crc32(0, bytes, uInt(png.size() - begin)));
}

std::string deflated(std::string_view data) {
  uLongf size = compressBound(data.size());
  std::string packed(size, '\0');
  const auto* bytes = reinterpret_cast<const Bytef*>(data.data());
  if (compress(reinterpret_cast<Bytef*>(packed.data()), &size, bytes, data.size()) != Z_OK) {
    throw MemoryError("image: zlib cannot be started");
  }
  packed.resize(size);
  return packed;
}

}  // namespace

std::string encode_png(const Tensor& image) {
  const Shape& shape = image.shape();
  if (image.dtype() != DType::uint8 || shape.rank() != 3 || shape[2] != 3 ||
      image.elements() == 0) {
    throw ShapeError(
        fmt::format("encode_png: the image is {}, expected uint8 height x width x 3 with pixels",
                    to_string(image.desc())));
  }
  if (shape[0] > kMostImagePixels / shape[1]) {
    throw Unsupported(fmt::format("encode_png: {} x {} pixels, at most {} are encoded", shape[0],
                                  shape[1], kMostImagePixels));
  }
  const auto row_bytes = std::size_t(shape[1]) * 3;
  const Tensor host = image.on_host();
  const auto* pixels = static_cast<const char*>(host.raw());
  std::string rows;
  for (std::int64_t y = 0; y < shape[0]; ++y) {
    constexpr char kUnfiltered = 0;
    rows += kUnfiltered;
    rows.append(pixels + std::size_t(y) * row_bytes, row_bytes);
  }
  std::string header;
  append_number(header, std::size_t(shape[1]));
  append_number(header, std::size_t(shape[0]));
  constexpr char kBits = 8, kRgb = 2;
  header += {kBits, kRgb, 0, 0, 0};  // deflate, adaptive filters, not interlaced
  std::string png = "\x89PNG\r\n\x1a\n";
  append_chunk(png, "IHDR", header);
  append_chunk(png, "IDAT", deflated(rows));
  append_chunk(png, "IEND", "");
  return png;
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
// PNG images of 16 bits a channel, made here by the standard's words (ISO/IEC 15948).
#include <zlib.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/image/image.hpp"

using namespace d5;
using namespace std::string_literals;

namespace {

/// A number in big-endian bytes.
std::string big_endian(std::uint32_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += char(value >> (8 * i) & 0xff);
  return text;
}

std::string chunk(const std::string& type, const std::string& data) {
  const std::string whole = type + data;
  const auto sum = crc32(0, reinterpret_cast<const Bytef*>(whole.data()), uInt(whole.size()));
  return big_endian(std::uint32_t(data.size()), 4) + whole + big_endian(std::uint32_t(sum), 4);
}

enum class Colors : char { gray = 0, rgb = 2, gray_alpha = 4, rgb_alpha = 6 };

/// A PNG file of `values`, row by row, 16 bits each.
std::string png(std::uint32_t width, std::uint32_t height, Colors colors,
                const std::vector<std::uint16_t>& values) {
  std::string rows;
  const std::size_t row = values.size() / height;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % row == 0) rows += '\0';  // no filter
    rows += big_endian(values[i], 2);
  }
  uLongf size = compressBound(uLong(rows.size()));
  std::string packed(size, '\0');
  REQUIRE(compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                   reinterpret_cast<const Bytef*>(rows.data()), uLong(rows.size())) == Z_OK);
  packed.resize(size);
  return "\x89PNG\r\n\x1a\n" +
         chunk("IHDR",
               big_endian(width, 4) + big_endian(height, 4) + '\x10' + char(colors) + "\0\0\0"s) +
         chunk("IDAT", packed) + chunk("IEND", "");
}

std::vector<int> deep_pixels(const std::string& content) {
  const Tensor image = decode_image(std::as_bytes(std::span(content)));
  const auto values = image.span<std::uint8_t>();
  return {values.begin(), values.end()};
}

/// 65535 stands for what 255 does.
int eight_bits(int value) { return int(std::lround(value / 257.0)); }

}  // namespace

TEST_CASE("each of 65,536 grays becomes the nearest of 256") {
  std::vector<std::uint16_t> values(65536);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::uint16_t(i);
  const auto pixels = deep_pixels(png(256, 256, Colors::gray, values));
  REQUIRE(pixels.size() == 3 * values.size());
  int wrong = 0;
  for (std::size_t i = 0; i < pixels.size(); ++i) wrong += pixels[i] != eight_bits(int(i / 3));
  CHECK(wrong == 0);
}

TEST_CASE("colours of 16 bits are scaled each, and what is transparent is left out") {
  const std::vector<int> expected{eight_bits(1000), eight_bits(40000), eight_bits(65535),
                                  eight_bits(128),  eight_bits(129),   eight_bits(0)};
  CHECK(deep_pixels(png(2, 1, Colors::rgb, {1000, 40000, 65535, 128, 129, 0})) == expected);
  CHECK(deep_pixels(png(2, 1, Colors::rgb_alpha, {1000, 40000, 65535, 7, 128, 129, 0, 65535})) ==
        expected);
  CHECK(deep_pixels(png(1, 1, Colors::gray_alpha, {1000, 0})) ==
        std::vector<int>(3, eight_bits(1000)));
}

TEST_CASE("an image of 16 bits that ends early is refused") {
  const std::string whole = png(2, 1, Colors::rgb, {1000, 40000, 65535, 128, 129, 0});
  for (std::size_t size = 8; size + 12 < whole.size(); ++size) {
    CAPTURE(size);
    CHECK_THROWS_AS(deep_pixels(whole.substr(0, size)), FormatError);
  }
}

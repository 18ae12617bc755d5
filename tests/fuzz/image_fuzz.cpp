// SPDX-License-Identifier: Apache-2.0
// Damaged JPEG and PNG images, decoded whole, in part and scaled: refused, or a part has the pixels
// that the whole has.
#include <algorithm>
#include <span>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/image/image.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/mutation.hpp"

namespace d5::fuzz {
namespace {

constexpr std::int64_t kMostPixels = 1 << 22;  // bounds a case's time and memory

const std::vector<std::string>& sound() {
  static const std::vector<std::string> images = [] {
    std::vector<std::string> all;
    for (const char* name : {"two_colors.jpeg", "progressive.jpeg", "cmyk.jpeg", "ramp.png",
                             "alpha.png", "palette.png", "gray16.png", "interlaced.png"}) {
      all.push_back(read_file(std::string(D5_SOURCE_DIR "/tests/core/images/") + name));
    }
    return all;
  }();
  return images;
}

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) number = number << 8 | std::uint8_t(bytes[at + i]);
  return number;
}

/// Its chunks' checksums made right again, so that what is wrong lies behind them.
std::string with_checksums(std::string png) {
  constexpr std::size_t kSignature = 8, kAround = 12;  // length, type, checksum
  for (std::size_t at = kSignature; png.starts_with("\x89PNG") && at + kAround <= png.size();) {
    const std::size_t length = number_at(png, at);
    if (length > png.size() - at - kAround) break;
    std::uint32_t sum = ~0U;  // CRC-32 of type and data
    for (std::size_t i = at + 4; i < at + 8 + length; ++i) {
      sum ^= std::uint8_t(png[i]);
      for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (0xedb88320U & (0U - (sum & 1)));
    }
    for (std::size_t i = 0; i < 4; ++i) {
      png[at + 8 + length + i] = char(~sum >> (24 - 8 * i) & 0xff);
    }
    at += kAround + length;
  }
  return png;
}

std::vector<std::uint8_t> read(ImageDecoder& decoder, const std::string& bytes,
                               const ImagePart& part) {
  std::vector<std::uint8_t> pixels(std::size_t(3 * part.height * part.width));
  decoder.open(std::as_bytes(std::span(bytes)), kMostPixels);
  decoder.read(part, pixels);
  return pixels;
}

}  // namespace

std::string name() { return "image"; }

void prepare() { (void)sound(); }

std::string make_case(RandomStream& random) {
  std::string image = pick(random, sound());
  for (auto changes = 1 + random.below(4); changes > 0; --changes) {
    image = one_in(random, 3) ? with_damage(image, random) : with_flipped_bit(image, random);
  }
  return one_in(random, 2) ? with_checksums(image) : image;
}

std::string run_case(const std::string& bytes) {
  ImageDecoder decoder;
  const ImageSize size = decoder.open(std::as_bytes(std::span(bytes)), kMostPixels);
  for (const int eighths : {8, 3}) {
    if (eighths != 8 && !decoder.scales()) continue;
    const ImageSize all = scaled(size, eighths);
    const auto whole =
        read(decoder, bytes, {.height = all.height, .width = all.width, .eighths = eighths});
    const ImagePart part{.top = all.height / 3,
                         .left = all.width / 4,
                         .height = (all.height + 2) / 3,
                         .width = (all.width + 1) / 2,
                         .eighths = eighths};
    const auto pixels = read(decoder, bytes, part);
    (void)decoder.open(std::as_bytes(std::span(bytes)), kMostPixels);
    const PixelRows rows = decoder.rows(part);
    for (std::int64_t y = 0; y < part.height; ++y) {
      const auto row = whole.begin() + 3 * ((part.top + y) * all.width + part.left);
      if (!std::equal(row, row + 3 * part.width, pixels.begin() + 3 * y * part.width) ||
          !std::equal(row, row + 3 * part.width, rows.data + y * rows.stride)) {
        return "a part has other pixels than the whole image";
      }
    }
    (void)decoder.open(std::as_bytes(std::span(bytes)), kMostPixels);
  }
  return {};
}

}  // namespace d5::fuzz

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/image/image.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/tensor/random.hpp"

using namespace d5;
using namespace std::string_literals;
using Bytes = std::vector<std::uint8_t>;

namespace {

Tensor decode(const std::string& content, PixelFormat format = PixelFormat::rgb) {
  return decode_image(std::as_bytes(std::span(content)), format);
}
Bytes pixels_of(const std::string& content, PixelFormat format = PixelFormat::rgb) {
  const Tensor image = decode(content, format);
  const auto values = image.span<std::uint8_t>();
  return {values.begin(), values.end()};
}

/// A file of tests/core/images.
std::string sample(const std::string& name) {
  std::ifstream in(std::string(std::getenv("D5_SOURCE_DIR")) + "/tests/core/images/" + name,
                   std::ios::binary);
  REQUIRE(in);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string little_endian(std::uint32_t value, int count) {
  std::string result;
  for (; count > 0; --count, value >>= 8) result += char(value & 255);
  return result;
}
/// A BMP file with Windows 3 headers.
std::string bmp(std::int32_t width, std::int32_t height, int depth, int compression,
                const std::string& palette, const std::string& pixels) {
  return "BM" + little_endian(0, 8) + little_endian(std::uint32_t(54 + palette.size()), 4) +
         little_endian(40, 4) + little_endian(std::uint32_t(width), 4) +
         little_endian(std::uint32_t(height), 4) + little_endian(1, 2) +
         little_endian(std::uint32_t(depth), 2) + little_endian(std::uint32_t(compression), 4) +
         little_endian(0, 12) + little_endian(std::uint32_t(palette.size() / 4), 4) +
         little_endian(0, 4) + palette + pixels;
}

const std::string kTwoColors = "\1\2\3\0\4\5\6\0"s;  // blue, green, red, nothing
const std::string kRunsBmp = bmp(3, 2, 8, 1, kTwoColors, "\3\1\0\0\0\3\1\0\1\0\0\1"s);
const std::string kBitsPnm = "P4\n9 2\n\x80\x80\x7f\0"s;

}  // namespace

TEST_CASE("images without loss are what was drawn, in every format that has its library") {
  for (const std::string name : {"ramp.png", "ramp.tiff", "ramp.webp", "ramp.jp2", "ramp.j2k"}) {
    INFO(name);
    const Tensor image = decode(sample(name));
    REQUIRE(to_string(image.desc()) == "uint8 3x5x3");
    const std::uint8_t* pixel = image.data<std::uint8_t>();
    for (int y = 0; y < 3; ++y) {
      for (int x = 0; x < 5; ++x, pixel += 3) {
        CHECK(pixel[0] == 40 * x);
        CHECK(pixel[1] == 60 * y);
        CHECK(pixel[2] == 255 - 20 * (x + y));
      }
    }
  }
}

TEST_CASE("a JPEG image of flat blocks keeps their colors") {
  const Tensor image = decode(sample("two_colors.jpeg"));
  REQUIRE(to_string(image.desc()) == "uint8 8x16x3");
  const auto near = [&](const Tensor& of, std::size_t i, int value) {
    return std::abs(int(of.span<std::uint8_t>()[i]) - value) <= 2;  // YCbCr is rounded
  };
  CHECK((near(image, 0, 200) && near(image, 1, 100) && near(image, 2, 50)));
  CHECK((near(image, 24, 77) && near(image, 25, 77) && near(image, 26, 77)));
  const Tensor inks = decode(sample("cmyk.jpeg"));  // 255, 128 and 0 of 200
  CHECK((near(inks, 0, 200) && near(inks, 1, 100) && near(inks, 2, 0)));
}

TEST_CASE("other depths, palettes and transparency become 8 bits a channel") {
  const Bytes color{100, 50, 20};
  CHECK(pixels_of(sample("alpha.png")) == color);
  CHECK(pixels_of(sample("alpha.tiff")) == color);
  CHECK(pixels_of(sample("palette.png")) == Bytes{4, 5, 6, 1, 2, 3});
  const Bytes gray_and_white{128, 128, 128, 255, 255, 255};
  CHECK(pixels_of(sample("gray16.png")) == gray_and_white);
  CHECK(pixels_of(sample("gray16.jp2")) == gray_and_white);
  CHECK(pixels_of(sample("interlaced.png")) == Bytes{1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4});
}

TEST_CASE("an image that ends early is refused, not filled up") {
  for (const std::string name :
       {"ramp.png", "ramp.tiff", "ramp.webp", "ramp.jp2", "ramp.j2k", "two_colors.jpeg"}) {
    INFO(name);
    const std::string whole = sample(name);
    CHECK_THROWS_AS(decode(whole.substr(0, whole.size() / 2)), FormatError);
    CHECK_THROWS_AS(decode(whole.substr(0, whole.size() - 8)), FormatError);
  }
}

TEST_CASE("channels come in the order that was asked for, or as their luma") {
  const std::string colors = "P3 3 1 255  255 0 0  0 255 0  0 0 255";
  CHECK(pixels_of(colors) == Bytes{255, 0, 0, 0, 255, 0, 0, 0, 255});
  CHECK(pixels_of(colors, PixelFormat::bgr) == Bytes{0, 0, 255, 0, 255, 0, 255, 0, 0});
  CHECK(pixels_of(colors, PixelFormat::grayscale) == Bytes{76, 150, 29});
  CHECK(to_string(decode(colors, PixelFormat::grayscale).shape()) == "1x3x1");
}

TEST_CASE("PNM images are read as text and as bytes, with comments and any largest value") {
  CHECK(pixels_of("P1\n# bits: 1 is black\n2 1\n10") == Bytes{0, 0, 0, 255, 255, 255});
  CHECK(pixels_of("P2 2 1 4 1 4") == Bytes{64, 64, 64, 255, 255, 255});
  CHECK(pixels_of("P5 1 1 255\n\x07") == Bytes{7, 7, 7});
  CHECK(pixels_of("P6 1 1 65535\n\xff\xff\x80\x80\0\0"s) == Bytes{255, 128, 0});
  CHECK(pixels_of(kBitsPnm, PixelFormat::grayscale) == Bytes{0, 255, 255, 255, 255, 255, 255, 255,
                                                             0,  //
                                                             255, 0, 0, 0, 0, 0, 0, 0, 255});
  for (const std::string bad :
       {"P2 2 1 4 1 5", "P2 2 1 4 1", "P2 2 1 0 0 0", "P2 2 1 70000 0 0", "P1 1 1 2", "P5 0 1 255 ",
        "P6 9999999999999 9999999999999 255 ", "P6", "P3 1 # 1"}) {
    INFO(bad);
    CHECK_THROWS_AS(decode(bad), FormatError);
  }
}

TEST_CASE("BMP images of every depth are read from the bottom up, or down") {
  CHECK(pixels_of(bmp(1, 2, 24, 0, "", "\1\2\3\0\4\5\6\0"s)) == Bytes{6, 5, 4, 3, 2, 1});
  CHECK(pixels_of(bmp(1, -2, 24, 0, "", "\1\2\3\0\4\5\6\0"s)) == Bytes{3, 2, 1, 6, 5, 4});
  CHECK(pixels_of(bmp(1, 1, 32, 0, "", "\1\2\3\0"s)) == Bytes{3, 2, 1});
  CHECK(pixels_of(bmp(2, 1, 16, 0, "", "\xff\x7f\x10\0"s)) ==
        Bytes{255, 255, 255, 0, 0, 132});  // five bits a channel
  CHECK(pixels_of(bmp(1, 1, 16, 3, "\0\xf8\0\0\xe0\7\0\0\x1f\0\0\0"s, "\xe0\7\0\0"s)) ==
        Bytes{0, 255, 0});  // masks of five, six and five bits
  const Bytes other_and_one{6, 5, 4, 3, 2, 1};
  CHECK(pixels_of(bmp(2, 1, 1, 0, kTwoColors, "\x80\0\0\0"s)) == other_and_one);
  CHECK(pixels_of(bmp(2, 1, 4, 0, kTwoColors, "\x10\0\0\0"s)) == other_and_one);
  CHECK(pixels_of(bmp(2, 1, 8, 0, kTwoColors, "\1\0\0\0"s)) == other_and_one);
}

TEST_CASE("BMP images of runs are read, and what they leave out is black") {
  const auto first = [](const std::string& pixels, int depth, int compression) {
    Bytes result;
    const Bytes all = pixels_of(bmp(4, 1, depth, compression, kTwoColors, pixels));
    for (std::size_t i = 0; i < all.size(); i += 3) result.push_back(all[i]);
    return result;
  };
  CHECK(first("\3\1\1\0\0\1"s, 8, 1) == Bytes{6, 6, 6, 3});
  CHECK(first("\0\3\1\0\1\0\0\1"s, 8, 1) == Bytes{6, 3, 6, 0});
  CHECK(first("\1\1\0\2\1\0\1\1\0\1"s, 8, 1) == Bytes{6, 0, 6, 0});
  CHECK(first("\4\x10\0\1"s, 4, 2) == Bytes{6, 3, 6, 3});
  CHECK(first("\0\4\x11\0\0\1"s, 4, 2) == Bytes{6, 6, 3, 3});
  for (const std::string& bad : {"\5\1\0\1"s, "\1\2\0\1"s, "\1\1"s, "\0\0\1\1\0\1"s}) {
    CHECK_THROWS_AS(first(bad, 8, 1), FormatError);
  }
}

TEST_CASE("bytes that are no image, or too large a one, are refused by their kind of error") {
  CHECK_THROWS_AS(decode(""), FormatError);
  CHECK_THROWS_AS(decode("an image"), FormatError);
  CHECK_THROWS_AS(decode(bmp(1, 1, 7, 0, "", "")), Unsupported);
  CHECK_THROWS_AS(decode(bmp(70000, 70000, 8, 1, kTwoColors, "\0\1"s)), Unsupported);
  CHECK_THROWS_AS(decode(bmp(0, 1, 24, 0, "", "")), FormatError);
  CHECK_THROWS_AS(decode(bmp(2147483647, -2147483647 - 1, 32, 0, "", "")), FormatError);
}

TEST_CASE("every damage of an image gives another image, or an error of ours") {
  std::vector<std::string> images = {kRunsBmp, kBitsPnm, bmp(3, 1, 4, 0, kTwoColors, "\0\0\0\0"s),
                                     "P3 2 1 255 1 2 3 4 5 6"};
  for (const std::string name : {"ramp.png", "ramp.tiff", "ramp.webp", "ramp.jp2", "ramp.j2k",
                                 "two_colors.jpeg", "cmyk.jpeg"}) {
    images.push_back(sample(name));
  }
  int decoded = 0, refused = 0;
  const auto try_to_decode = [&](const std::string& content) {
    try {
      (void)decode(content);
      ++decoded;
    } catch (const Error&) {
      ++refused;
    }
  };
  for (const std::string& image : images) {
    for (std::size_t n = 0; n < image.size(); ++n) try_to_decode(image.substr(0, n));
    for (std::size_t bit = 0; bit < 8 * image.size(); ++bit) {
      std::string damaged = image;
      damaged[bit / 8] = char(damaged[bit / 8] ^ (1 << bit % 8));
      try_to_decode(damaged);
    }
  }
  CHECK(decoded > 0);
  CHECK(refused > 0);
}

TEST_CASE("libpng decodes an encoded PNG to the same pixels") {
  for (const Shape& shape : {Shape{1, 1, 3}, Shape{3, 2, 3}, Shape{500, 301, 3}}) {
    Tensor image = Tensor::empty(DType::uint8, shape);
    std::uint32_t state = 1;
    for (std::uint8_t& value : image.span<std::uint8_t>()) {
      state = state * 1664525 + 1013904223;
      value = std::uint8_t(state >> 24);
    }
    const auto values = image.span<std::uint8_t>();
    try {
      CHECK(pixels_of(encode_png(image)) == Bytes(values.begin(), values.end()));
    } catch (const Unsupported& absent) {
      WARN(absent.what());
    }
  }
}

TEST_CASE("only an image of three colours is encoded") {
  CHECK_THROWS_AS(encode_png(Tensor::zeros(DType::uint8, {2, 2, 4})), ShapeError);
  CHECK_THROWS_AS(encode_png(Tensor::zeros(DType::uint8, {2, 2})), ShapeError);
  CHECK_THROWS_AS(encode_png(Tensor::zeros(DType::uint8, {0, 2, 3})), ShapeError);
  CHECK_THROWS_AS(encode_png(Tensor::zeros(DType::float32, {2, 2, 3})), ShapeError);
}

namespace {

/// Names and contents of the photographs, or none where $D5_DATA_DIR has them not.
std::vector<std::pair<std::string, std::string>> photographs() {
  std::vector<std::pair<std::string, std::string>> files;
  const char* shared = std::getenv("D5_DATA_DIR");
  const auto folder = std::filesystem::path(shared ? shared : "") / "imagenet-sample";
  if (!std::filesystem::is_directory(folder)) {
    WARN("skipped: needs D5_DATA_DIR with imagenet-sample");
    return files;
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".JPEG") continue;
    files.emplace_back(entry.path().filename().string(), read_file(entry.path().string()));
  }
  return files;
}

std::string_view bytes_of(const Tensor& image) {
  return {reinterpret_cast<const char*>(image.data<std::uint8_t>()), image.bytes()};
}

/// The part of a whole image at the same size.
Bytes cut(const Tensor& all, const ImagePart& part) {
  Bytes result;
  const std::uint8_t* pixels = all.data<std::uint8_t>();
  for (std::int64_t y = part.top; y < part.top + part.height; ++y) {
    const std::uint8_t* row = pixels + 3 * (y * all.shape()[1] + part.left);
    result.insert(result.end(), row, row + 3 * part.width);
  }
  return result;
}

Bytes dense(const PixelRows& rows, const ImagePart& part) {
  Bytes result;
  for (std::int64_t y = 0; y < part.height; ++y) {
    const std::uint8_t* row = rows.data + y * rows.stride;
    result.insert(result.end(), row, row + 3 * part.width);
  }
  return result;
}

ImagePart some_part(const ImageSize& size, int eighths, RandomStream& random) {
  const auto below = [&](std::int64_t n) { return std::int64_t(random.below(std::uint64_t(n))); };
  ImagePart part{.top = below(size.height), .left = below(size.width), .eighths = eighths};
  part.height = 1 + below(size.height - part.top);
  part.width = 1 + below(size.width - part.left);
  return part;
}

void check_parts(const std::string& content, RandomStream& random, int parts) {
  ImageDecoder decoder;
  const auto bytes = std::as_bytes(std::span(content));
  for (const int eighths : {8, 4, 3, 1}) {
    const ImageSize size = scaled(decoder.open(bytes), eighths);
    if (eighths != 8 && !decoder.scales()) continue;
    Tensor all = Tensor::empty(DType::uint8, {size.height, size.width, 3});
    decoder.read({.height = size.height, .width = size.width, .eighths = eighths},
                 all.span<std::uint8_t>());
    for (int i = 0; i < parts; ++i) {
      const ImagePart part = some_part(size, eighths, random);
      INFO(part.top << "," << part.left << " " << part.height << "x" << part.width << " of "
                    << size.height << "x" << size.width << ", eighths " << eighths);
      Bytes pixels(std::size_t(3 * part.height * part.width));
      decoder.open(bytes);
      decoder.read(part, pixels);
      CHECK(pixels == cut(all, part));
      decoder.open(bytes);
      CHECK(dense(decoder.rows(part), part) == cut(all, part));
    }
  }
}

}  // namespace

TEST_CASE("photographs have the pixels that Pillow sees, to the bit") {
  std::ifstream sums(std::string(std::getenv("D5_SOURCE_DIR")) +
                     "/tests/core/images/imagenet_sample.txt");
  std::map<std::string, std::string> expected;
  for (std::string line; std::getline(sums, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name >> expected[name];
  }
  for (const auto& [name, content] : photographs()) {
    INFO(name);
    CHECK(detail::sha256(bytes_of(decode(content))) == expected.at(name));
  }
}

TEST_CASE("grey, progressive, four-ink, palette and transparent images have Pillow's pixels, too") {
  // SHA-256 of Image.open(file).convert("RGB").tobytes() of Pillow 13.0.0.
  const std::map<std::string, std::string> expected{
      {"two_colors.jpeg", "5246b769a2f46f538b528ad6064c41405ca627ba344688e7f5eccd1828ca5649"},
      {"progressive.jpeg", "09ff4b733b051c419a94495ff6b8dc4aa3ebf194156e32e9b0966d6de768aa23"},
      {"grey.jpeg", "b2e8a7f1306c51dcb8a7842a4876669f4f89cb838d96ed5d1536a64e2511484b"},
      {"cmyk.jpeg", "18bc002c6484a3bafa6847c8b99a2d2599378c015f1d7b839da09cb39ecbbeaf"},
      {"ramp.png", "8e4015e9d3cf7bd365553d29fd7980daca6c7d05d3ef6bffc8a386ede5211201"},
      {"alpha.png", "92abb51db09b9b98e424f366ab365d3f9b4348220817f5395185b194167ba58c"},
      {"palette.png", "e4513c1c08ce7639ea623db4c9eea0a7f6442ce9d9a19aa40289bfcfa2d57147"},
      {"interlaced.png", "1a9ed9e6ae5982591a5fd617005a4e69b19fc2c3646c23137c5495dcff5bc2e3"}};
  for (const auto& [name, sum] : expected) {
    INFO(name);
    CHECK(detail::sha256(bytes_of(decode(sample(name)))) == sum);
  }
}

TEST_CASE("a part of an image has the pixels of the whole one, at every size") {
  RandomStream random(1);
  for (const std::string name :
       {"two_colors.jpeg", "progressive.jpeg", "grey.jpeg", "cmyk.jpeg", "ramp.png",
        "interlaced.png", "palette.png", "ramp.webp", "ramp.tiff"}) {
    INFO(name);
    check_parts(sample(name), random, 5);
  }
  const auto files = photographs();
  for (std::size_t i = 0; i < files.size(); i += 5) {
    INFO(files[i].first);
    check_parts(files[i].second, random, 3);
  }
}

TEST_CASE("a part outside of an image, or read twice, is refused") {
  const std::string content = sample("ramp.png");
  ImageDecoder decoder;
  Bytes pixels(3);
  CHECK_THROWS_AS(decoder.read({.height = 1, .width = 1}, pixels), ValueError);
  const auto open = [&] { return decoder.open(std::as_bytes(std::span(content))); };
  CHECK(open() == ImageSize{3, 5});
  for (const ImagePart& part :
       {ImagePart{.top = 3, .height = 1, .width = 1},
        ImagePart{.left = -1, .height = 1, .width = 1}, ImagePart{.height = 0, .width = 1},
        ImagePart{.height = 1, .width = 2}, ImagePart{.height = 1, .width = 1, .eighths = 4}}) {
    CHECK_THROWS_AS(decoder.read(part, pixels), ValueError);
  }
  CHECK_THROWS_AS(decoder.rows({.top = 3, .height = 1, .width = 1}), ValueError);
  decoder.read({.top = 2, .left = 4, .height = 1, .width = 1}, pixels);
  CHECK(pixels == Bytes{160, 120, 135});
  CHECK_THROWS_AS(decoder.read({.height = 1, .width = 1}, pixels), ValueError);
  CHECK_THROWS_AS(decoder.rows({.height = 1, .width = 1}), ValueError);
  open();
  CHECK_THROWS_AS(decoder.open(std::as_bytes(std::span(content)), 14), Unsupported);
}

TEST_CASE("a header that promises more than its file can hold takes no memory") {
  for (const std::string name : {"two_colors.jpeg", "ramp.png"}) {
    std::string content = sample(name);
    const bool jpeg = name.ends_with("jpeg");
    // Height and width: of two bytes each in a frame header, of four each in IHDR.
    const std::size_t frame = jpeg ? content.find("\xff\xc0") + 5 : 16;
    content.replace(frame, jpeg ? 4 : 8, jpeg ? "\x30\x00\x30\x00"s : "\0\0\x30\0\0\0\x30\0"s);
    CHECK_THROWS_AS(decode(content), FormatError);
  }
}

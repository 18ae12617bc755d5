// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/image/exif_orientation.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <span>
#include <string>
#include <vector>

namespace d5 {
namespace {

/// The markers of a JPEG, which says its orientation in either order of bytes.
std::string jpeg_with(int orientation, bool little) {
  using namespace std::string_literals;
  const char low = static_cast<char>(orientation);
  const std::string tiff =
      little ? "II\x2A\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0"s + low + "\0\0\0\0\0\0\0"s
             : "MM\0\x2A\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0"s + low + "\0\0\0\0\0\0"s;
  const std::string exif = "Exif\0\0"s + tiff;
  const auto length = static_cast<char>(exif.size() + 2);
  return "\xFF\xD8\xFF\xE0\0\x04JF\xFF\xE1\0"s + length + exif + "\xFF\xDA\0\x02"s;
}

int orientation_of(const std::string& jpeg) {
  return detail::exif_orientation(std::as_bytes(std::span(jpeg)));
}

TEST_CASE("a JPEG says how its camera was held") {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    CHECK(orientation_of(jpeg_with(orientation, true)) == orientation);
    CHECK(orientation_of(jpeg_with(orientation, false)) == orientation);
  }
  CHECK(orientation_of(jpeg_with(0, true)) == 1);
  CHECK(orientation_of(jpeg_with(9, true)) == 1);
  CHECK(orientation_of("") == 1);
  CHECK(orientation_of("no JPEG") == 1);
}

TEST_CASE("one that ends anywhere, or is changed anywhere, says something from 1 to 8") {
  const std::string whole = jpeg_with(6, true);
  for (std::size_t end = 0; end <= whole.size(); ++end) {
    const int orientation = orientation_of(whole.substr(0, end));
    CHECK((orientation == 1 || orientation == 6));
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char byte : {'\0', '\x7F', '\xFF'}) {
      std::string changed = whole;
      changed[at] = byte;
      const int orientation = orientation_of(changed);
      CHECK((orientation >= 1 && orientation <= 8));
    }
  }
}

TEST_CASE("pixels are turned as Pillow's exif_transpose turns them") {
  // An image of 2 rows and 3 columns, whose pixels are 0 to 5.
  const std::vector<std::vector<int>> expected{
      {0, 1, 2, 3, 4, 5}, {2, 1, 0, 5, 4, 3}, {5, 4, 3, 2, 1, 0}, {3, 4, 5, 0, 1, 2},
      {0, 3, 1, 4, 2, 5}, {3, 0, 4, 1, 5, 2}, {5, 2, 4, 1, 3, 0}, {2, 5, 1, 4, 0, 3}};
  std::array<std::uint8_t, 18> image{}, out{};
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = std::uint8_t(i / 3);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    detail::write_upright(image.data(), {2, 3}, orientation, out.data());
    std::vector<int> pixels;
    for (std::size_t i = 0; i < out.size(); i += 3) pixels.push_back(out[i]);
    INFO("orientation " << orientation);
    CHECK(pixels == expected[std::size_t(orientation - 1)]);
    const ImageSize turned = orientation >= 5 ? ImageSize{3, 2} : ImageSize{2, 3};
    CHECK(detail::upright_size({2, 3}, orientation) == turned);
  }
}

}  // namespace
}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Bytes = std::vector<std::uint8_t>;

TEST_CASE("ImageDecoder gives the pixels in the order that it is asked for") {
  // "P3 1 1 9 9 5 0": one pixel.
  const std::string line = "ImageDecoder uint8:{80,51,32,49,32,49,32,57,32,57,32,53,32,48} ";
  CHECK(result_of<std::uint8_t>(line) == Bytes{255, 142, 0});
  CHECK(result_of<std::uint8_t>(line + "pixel_format=BGR") == Bytes{0, 142, 255});
  CHECK(result_of<std::uint8_t>(line + "pixel_format=Grayscale") == Bytes{160});
  CHECK(shape_of(line) == "1x1x3");
  CHECK(shape_of(line + "pixel_format=Grayscale") == "1x1x1");
}

TEST_CASE("ImageDecoder gives no pixels of what is no image, as the standard says") {
  CHECK(shape_of("ImageDecoder uint8:{1,2,3}") == "0x0x3");
  CHECK(shape_of("ImageDecoder uint8:0") == "0x0x3");
  CHECK(shape_of("ImageDecoder uint8:{80,51,32,49} pixel_format=Grayscale") == "0x0x1");
}

TEST_CASE("ImageDecoder refuses what does not fit") {
  CHECK_THROWS_AS(run_case("ImageDecoder uint8:2x3"), ShapeError);
  CHECK_THROWS_AS(run_case("ImageDecoder uint8:3 pixel_format=RGBA"), ValueError);
}

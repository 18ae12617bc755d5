// SPDX-License-Identifier: Apache-2.0
// Steps for files as bytes, and for lines of text: results by hand, and by magika and PaddleOCR's
// rule.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "tests/level2_training/data/after_steps.hpp"

namespace d5 {
namespace {

using testing::after;

std::vector<std::int32_t> ends_of(const std::string& file, const Settings& settings) {
  const Tensor ends = after(Tensor::scalar(file), {{"byte_ends", settings}});
  const auto numbers = ends.span<std::int32_t>();
  return {numbers.begin(), numbers.end()};
}

TEST_CASE(
    "the ends of a file are its bytes without white space, and padding where there are none") {
  using Numbers = std::vector<std::int32_t>;
  const Settings three{{"begin", 3}, {"end", 3}};
  CHECK(ends_of(" \t\n\r\v\fabcd\n", three) == Numbers{'a', 'b', 'c', 'b', 'c', 'd'});
  // White space at the other end belongs to it.
  CHECK(ends_of("a ", three) == Numbers{'a', ' ', 256, 256, 256, 'a'});
  CHECK(ends_of("\xff", three) == Numbers{255, 256, 256, 256, 256, 255});
  CHECK(ends_of("", three) == Numbers(6, 256));
  CHECK(ends_of("   ", three) == Numbers(6, 256));
  // White space is left out of the block alone, and what follows it is not read.
  CHECK(ends_of("  abc  ", {{"begin", 3}, {"end", 3}, {"block", 3}}) ==
        Numbers{'a', 256, 256, 256, 256, 'c'});
  CHECK(ends_of("abc", {{"begin", 2}, {"end", 0}, {"padding", 0}}) == Numbers{'a', 'b'});
  CHECK(ends_of("abc", {}).size() == 2048);
  const Tensor bytes = after(Tensor::vector(std::vector<std::uint8_t>{'a', 'b', ' '}),
                             {{"byte_ends", {{"begin", 1}, {"end", 1}}}});
  CHECK(bytes.data<std::int32_t>()[0] == 'a');
  CHECK(bytes.data<std::int32_t>()[1] == 'b');
  CHECK_THROWS_AS(after(Tensor::vector(std::vector<float>{1}), {{"byte_ends"}}), TypeError);
}

Shape line_of(std::int64_t height, std::int64_t width, const std::string& ratio) {
  return after(Tensor::zeros(DType::uint8, {height, width, 3}),
               {{"resize_as",
                 {{"library", "opencv"}, {"height", 48}, {"width", 320}, {"ratio", ratio}}}})
      .shape();
}

TEST_CASE("a line of text keeps its ratio, up to a width or beyond it") {
  // rapidocr-onnxruntime 1.4.4's resize_norm_img: ceil(48 * ratio) up to 320; wider lines are
  // int(48 * ratio) by the recognizer, 320 by a rule of one width.
  CHECK(line_of(32, 100, "kept") == Shape{48, 150, 3});
  CHECK(line_of(31, 100, "kept") == Shape{48, 155, 3});
  CHECK(line_of(48, 320, "kept") == Shape{48, 320, 3});
  CHECK(line_of(31, 400, "kept") == Shape{48, 619, 3});
  CHECK(line_of(31, 400, "squeezed") == Shape{48, 320, 3});
  CHECK(line_of(1000, 1, "squeezed") == Shape{48, 1, 3});
  CHECK(line_of(31, 400, "given") == Shape{48, 320, 3});
  CHECK_THROWS_WITH(line_of(1, 10000, "kept"), Catch::Contains("ratio=squeezed"));
  CHECK_THROWS_AS(after(Tensor::zeros(DType::uint8, {2, 2, 3}),
                        {{"resize_as", {{"size", 4}, {"ratio", "kept"}}}}),
                  ValueError);
}

TEST_CASE("an image is padded on the right and below up to a size, and larger ones stay") {
  const Tensor image = Tensor::of<float>({1, 1, 2}, {1, 2});
  const Tensor padded = after(image, {{"pad_to", {{"height", 2}, {"width", 3}, {"fill", 7}}}});
  REQUIRE(padded.shape() == Shape{1, 2, 3});
  const auto values = padded.span<float>();
  CHECK(std::vector<float>(values.begin(), values.end()) == std::vector<float>{1, 2, 7, 7, 7, 7});
  CHECK(after(image, {{"pad_to", {{"width", 1}}}}).shape() == Shape{1, 1, 2});
  const Tensor bytes =
      after(Tensor::of<std::uint8_t>({1, 1, 3}, {1, 2, 3}), {{"pad_to", {{"width", 2}}}});
  REQUIRE(bytes.shape() == Shape{1, 2, 3});
  CHECK(bytes.data<std::uint8_t>()[2] == 3);
  CHECK(bytes.data<std::uint8_t>()[3] == 0);
  CHECK_THROWS_AS(after(image, {{"pad_to"}}), ValueError);
}

}  // namespace
}  // namespace d5

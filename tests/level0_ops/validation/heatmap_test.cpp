// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/validation/heatmap.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <set>

#include "d5/core/errors/error.hpp"
#include "d5/core/image/image.hpp"
#include "d5/level0_ops/validation/error_norms.hpp"

using namespace d5;

namespace {

using Pixel = std::array<int, 3>;
constexpr Pixel kBlack = {0, 0, 0}, kWhite = {255, 255, 255};
constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinite = std::numeric_limits<float>::infinity();

Pixel pixel(const Tensor& image, std::int64_t x, std::int64_t y) {
  const std::uint8_t* at = image.data<std::uint8_t>() + (y * image.shape()[1] + x) * 3;
  return {at[0], at[1], at[2]};
}

/// Luma, by the weights of ITU-R BT.601.
double lightness(const Pixel& p) { return 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2]; }

Tensor picture_floats(const Shape& shape, std::initializer_list<float> values) {
  return Tensor::of<float>(shape, values);
}

}  // namespace

TEST_CASE("a larger size is lighter, whatever its sign, and 0 is black") {
  std::vector<float> ramp;
  for (int i = 0; i < 100; ++i) ramp.push_back(float(i % 2 == 0 ? i : -i));
  const Tensor image = heatmap(Tensor::vector(ramp));
  CHECK(pixel(image, 0, 0) == kBlack);
  const std::int64_t side = 5;  // 512 / 100
  for (std::int64_t i = 1; i < 100; ++i) {
    INFO(i);
    CHECK(lightness(pixel(image, i * side, 0)) > lightness(pixel(image, (i - 1) * side, 0)));
  }
  CHECK(lightness(pixel(image, 99 * side, 0)) < lightness(kWhite));
}

TEST_CASE("the last two dimensions are a tile, the others a grid of them, with white between") {
  // Tiles {0, 4} and {0, 4, ...} in a row of two and a row of one.
  const Tensor image = heatmap(picture_floats({3, 1, 2}, {0, 4, 4, 0, 4, 4}));
  // Two tiles of 1 x 2 stand side by side, the third below: 5 x 3 cells of 32 pixels.
  const auto cell = [&](int column, int row) { return pixel(image, column * 32, row * 32); };
  const Pixel most = cell(1, 0);
  CHECK(lightness(most) > 200);
  CHECK(cell(0, 0) == kBlack);
  for (const auto& [column, row] : {std::pair{2, 0}, {0, 1}, {4, 1}, {2, 2}, {3, 2}, {4, 2}}) {
    INFO(column << " " << row);
    CHECK(cell(column, row) == kWhite);
  }
  CHECK(cell(3, 0) == most);
  CHECK(cell(4, 0) == kBlack);
  CHECK(cell(0, 2) == most);
  CHECK(cell(1, 2) == most);
}

TEST_CASE("NaN and infinities have colours of their own, and do not darken the rest") {
  const Tensor image = heatmap(picture_floats({4}, {kNoNumber, -kInfinite, 1, 0.5f}));
  const auto cell = [&](int i) { return pixel(image, i * 32, 0); };
  const Pixel most = pixel(heatmap(picture_floats({1}, {1})), 0, 0);
  CHECK(cell(2) == most);
  CHECK(std::set<Pixel>{cell(0), cell(1), cell(2), cell(3), kBlack, kWhite}.size() == 6);
  // In one pixel NaN is above all.
  std::vector<float> long_row(4096, kInfinite);
  long_row[2049] = kNoNumber;
  const Tensor binned = heatmap(Tensor::vector(long_row));
  CHECK(pixel(binned, 512, 0) == cell(0));
  CHECK(pixel(binned, 511, 0) == cell(1));
}

TEST_CASE("a picture is at most 1,024 pixels wide and high, and one wrong element is seen in it") {
  const Shape shape = GENERATE(Shape{}, Shape{1}, Shape{1'000'000}, Shape{3'000'001, 1},
                               Shape{1000, 1500}, Shape{2, 3, 4, 5, 6, 7}, Shape{64, 64, 14, 14},
                               Shape{2'000'000, 1, 1}, Shape{600, 600, 3, 3}, Shape{1, 1, 1});
  INFO(to_string(shape));
  for (const std::int64_t wrong : {std::int64_t{0}, shape.elements() / 2, shape.elements() - 1}) {
    Tensor values = Tensor::zeros(DType::float32, shape);
    values.data<float>()[wrong] = 1;
    const Tensor image = heatmap(values);
    const std::int64_t scale = 40;
    CHECK(image.shape()[0] <= 1024 + scale);
    CHECK(image.shape()[1] <= 1024);
    const Pixel most = pixel(heatmap(picture_floats({1}, {1})), 0, 0);
    std::int64_t seen = 0;
    for (std::int64_t y = 0; y < image.shape()[0] - scale; ++y) {
      for (std::int64_t x = 0; x < image.shape()[1]; ++x) seen += pixel(image, x, y) == most;
    }
    CHECK(seen >= 1);
    CHECK(seen <= 32 * 32);
  }
}

TEST_CASE("a picture says its scale, of all zeros too") {
  const Tensor zeros = heatmap(picture_floats({2, 2}, {0, 0, 0, 0}));
  CHECK(pixel(zeros, 0, 0) == kBlack);
  CHECK(heatmap(picture_floats({1}, {1})).shape() == heatmap(picture_floats({1}, {2})).shape());
  const auto bytes = [](float most) { return encode_png(heatmap(picture_floats({1}, {most}))); };
  CHECK(bytes(1) != bytes(2));  // the same colours, other numbers
}

TEST_CASE("a tensor that cannot be drawn is refused") {
  CHECK_THROWS_AS(heatmap(Tensor::zeros(DType::float32, {0, 3})), ShapeError);
  CHECK_THROWS_AS(heatmap(Tensor::zeros(DType::boolean, {3})), TypeError);
  CHECK(heatmap(Tensor::scalar(std::int64_t{-5})).defined());
}

TEST_CASE("a difference is 0 where both are NaN or the same infinity") {
  const Tensor difference =
      absolute_difference(picture_floats({5}, {1, kNoNumber, kInfinite, kNoNumber, -2}),
                          picture_floats({5}, {3, kNoNumber, kInfinite, 1, kInfinite}));
  const auto d = difference.span<double>();
  CHECK(std::vector(d.begin(), d.begin() + 3) == std::vector<double>{2, 0, 0});
  CHECK(std::isnan(d[3]));
  CHECK(d[4] == double(kInfinite));
  CHECK_THROWS_AS(absolute_difference(picture_floats({1}, {1}), picture_floats({2}, {1, 1})),
                  ShapeError);
}

// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;
using Integers = std::vector<std::int64_t>;

namespace {

Integers indices_of(const std::string& line) {
  const OperatorRunner runner = run_case(line + " outputs=2");
  const auto values = runner.output(1).tensor().span<std::int64_t>();
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("MaxPool takes the largest under its window") {
  const std::string line = "MaxPool 1x1x3x3{1,2,3,4,9,6,7,8,5} kernel_shape=2x2";
  CHECK(result_of(line) == Floats{9, 9, 9, 9});
  CHECK(indices_of(line) == Integers{4, 4, 4, 4});
  CHECK(result_of("MaxPool 1x1x5{1,5,2,4,3} kernel_shape=2 strides=2") == Floats{5, 4});
  CHECK(result_of("MaxPool 1x1x5{1,5,2,4,3} kernel_shape=2 dilations=2") == Floats{2, 5, 3});
}

TEST_CASE("MaxPool's padding never wins") {
  CHECK(result_of("MaxPool 1x1x3{-1,-2,-3} kernel_shape=2 pads=1x1") == Floats{-1, -1, -2, -3});
}

TEST_CASE("MaxPool counts a last, partial window in ceil mode") {
  CHECK(result_of("MaxPool 1x1x4{1,2,3,4} kernel_shape=3 strides=2") == Floats{3});
  CHECK(result_of("MaxPool 1x1x4{1,2,3,4} kernel_shape=3 strides=2 ceil_mode=1") == Floats{3, 4});
  // A window that would begin in the padding at the end is left out.
  CHECK(result_of("MaxPool 1x1x4{1,2,3,4} kernel_shape=2 strides=3 ceil_mode=1 pads=1x1") ==
        Floats{1, 4});
}

TEST_CASE("MaxPool's indices count in the whole tensor, in either order") {
  // Second channel: its largest is at row 0, column 2 of a 2x3 plane.
  const std::string line = "MaxPool 1x2x2x3{1,2,3,4,5,6,1,2,9,4,5,6} kernel_shape=2x3";
  CHECK(indices_of(line) == Integers{5, 8});
  CHECK(indices_of(line + " storage_order=1") == Integers{5, 6 + 4});
}

TEST_CASE("MaxPool keeps NaN") {
  CHECK(std::isnan(result_of("MaxPool 1x1x3{1,nan,3} kernel_shape=3").at(0)));
}

TEST_CASE("MaxPool takes small integers") {
  const auto runner = run_case("MaxPool uint8:1x1x3{3,200,7} kernel_shape=2");
  CHECK(runner.output(0).tensor().data<std::uint8_t>()[1] == 200);
}

TEST_CASE("GlobalMaxPool takes the largest of each channel") {
  CHECK(result_of("GlobalMaxPool 1x2x2x2{1,2,3,4,-1,-2,-3,-4}") == Floats{4, -1});
  CHECK(run_case("GlobalMaxPool 1x2x2x2x2x2").output(0).tensor().shape() ==
        Shape{1, 2, 1, 1, 1, 1});
}

TEST_CASE("the gradients of maximum pooling agree with central differences") {
  check_gradient("MaxPool 2x2x5x4 kernel_shape=2x3", 1);
  check_gradient("MaxPool 1x2x6x7 kernel_shape=3x2 strides=2x1 pads=1x0x1x1 outputs=2", 1);
  check_gradient("MaxPool 1x2x7x7 kernel_shape=2x3 dilations=3x2 ceil_mode=1 strides=2x2", 1);
  check_gradient("MaxPool 2x1x3x4x5 kernel_shape=2x2x2 auto_pad=SAME_UPPER", 1);
  check_gradient("GlobalMaxPool 2x3x4x5", 1);
}

TEST_CASE("MaxPool refuses what has no meaning") {
  CHECK_THROWS_AS(run_case("MaxPool 1x1x3x3 kernel_shape=2"), ShapeError);
  CHECK_THROWS_AS(run_case("MaxPool 1x1x3x3 kernel_shape=4x4"), ShapeError);
  CHECK_THROWS_AS(run_case("MaxPool 3x3 kernel_shape=2"), ShapeError);
  CHECK_THROWS_AS(run_case("MaxPool 1x1x3"), FormatError);
  CHECK_THROWS_AS(run_case("MaxPool 1x1x3 kernel_shape=0"), ValueError);
  CHECK_THROWS_AS(run_case("MaxPool 1x1x3 kernel_shape=2 storage_order=2"), ValueError);
  CHECK_THROWS_AS(run_case("MaxPool int32:1x1x3 kernel_shape=2"), TypeError);
}

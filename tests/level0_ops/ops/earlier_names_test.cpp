// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("what com.microsoft had before ONNX means the same") {
  CHECK(result_of("com.microsoft.Trilu 2x2{1,2,3,4} int64:scalar{0} upper=0") ==
        Floats{1, 0, 3, 4});
  CHECK(result_of("com.microsoft.GatherND 2x2{1,2,3,4} int32:2x1{1,0}") == Floats{3, 4, 1, 2});
  CHECK(result_of("com.microsoft.GatherND 2x2{1,2,3,4} int64:2x2{1,0,0,1}") == Floats{3, 2});
  CHECK(result_of("com.microsoft.Pad {1,2} int64:{1,0} {7}") == Floats{7, 1, 2});
  CHECK(result_of("com.microsoft.Pad {1,2,3} int64:{0,2} mode=reflect") == Floats{1, 2, 3, 2, 1});
  for (const std::string mode : {"bilinear", "nearest", "bicubic"}) {
    const std::string sizes = "GridSample 1x1x4x5 1x2x3x2 align_corners=1 mode=" + mode;
    CHECK(result_of("com.microsoft." + sizes) ==
          result_of(sizes.substr(0, sizes.find(mode)) + (mode == "nearest"    ? "nearest"
                                                         : mode == "bilinear" ? "linear"
                                                                              : "cubic")));
  }
}

TEST_CASE("their errors are those of ONNX's operators") {
  CHECK_THROWS_AS(run_case("com.microsoft.GatherND 2x2 int64:1x3{0,0,0}"), ShapeError);
  CHECK_THROWS_AS(run_case("com.microsoft.GridSample 1x1x4x5 1x2x3x2 mode=other"), ValueError);
}

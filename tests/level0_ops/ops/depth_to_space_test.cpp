// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("DepthToSpace takes blocks from the channels, the place in the block first or last") {
  const std::string line = "DepthToSpace 1x8x1x1{0,1,2,3,4,5,6,7} blocksize=2";
  CHECK(result_of(line) == Floats{0, 2, 4, 6, 1, 3, 5, 7});
  CHECK(result_of(line + " mode=CRD") == Floats{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(result_of("DepthToSpace@1 1x4x1x2{0,1,2,3,4,5,6,7} blocksize=2") ==
        Floats{0, 2, 1, 3, 4, 6, 5, 7});
  CHECK(shape_of("DepthToSpace 2x18x3x5 blocksize=3") == "2x2x9x15");
}

TEST_CASE("SpaceToDepth undoes DepthToSpace") {
  CHECK(result_of("SpaceToDepth 1x1x2x4{0,2,1,3,4,6,5,7} blocksize=2") ==
        Floats{0, 1, 2, 3, 4, 5, 6, 7});
  const std::string line = "SpaceToDepth 1x2x2x2{0,2,4,6,1,3,5,7} blocksize=2";
  CHECK(result_of(line) == Floats{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(result_of(line + " mode=CRD") == Floats{0, 2, 4, 6, 1, 3, 5, 7});
  CHECK(shape_of("SpaceToDepth 0x2x6x9 blocksize=3") == "0x18x2x3");
}

TEST_CASE("DepthToSpace of an empty image has blocks that its sizes have room for") {
  CHECK(shape_of("DepthToSpace 1x0x8x2 blocksize=256") == "1x0x2048x512");
  CHECK_THROWS_AS(run_case("DepthToSpace 1x0x8x2 blocksize=2147483648"), ShapeError);
}

TEST_CASE("DepthToSpace and SpaceToDepth refuse what has no such blocks") {
  CHECK_THROWS_AS(run_case("DepthToSpace 1x6x2x2 blocksize=2"), ShapeError);
  CHECK_THROWS_AS(run_case("DepthToSpace 4x2x2 blocksize=2"), ShapeError);
  CHECK_THROWS_AS(run_case("DepthToSpace 1x4x2x2 blocksize=0"), ValueError);
  CHECK_THROWS_AS(run_case("DepthToSpace 1x4x2x2 blocksize=4294967296"), ValueError);
  CHECK_THROWS_AS(run_case("DepthToSpace 1x4x2x2 blocksize=2 mode=RDC"), ValueError);
  CHECK_THROWS_AS(run_case("SpaceToDepth 1x1x3x4 blocksize=2"), ShapeError);
  CHECK_THROWS_AS(run_case("SpaceToDepth 1x8x0x0 blocksize=2147483648"), ShapeError);
}

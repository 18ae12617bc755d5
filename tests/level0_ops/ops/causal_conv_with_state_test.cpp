// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("CausalConvWithState sees the present and the past alone") {
  const std::string line = "CausalConvWithState 1x1x3{1,2,3} 1x1x2{10,1}";
  CHECK(result_of(line) == Floats{1, 12, 23});
  CHECK(result_of(line + " {100} 1x1x1{5}") == Floats{151, 112, 123});
}

TEST_CASE("CausalConvWithState gives back the last inputs, older ones too where it has few") {
  const std::string line = "CausalConvWithState 1x2x1{1,2} 2x1x3 - ";
  CHECK(result_of(line + "1x2x2{3,4,5,6} outputs=2", 1) == Floats{4, 1, 6, 2});
  CHECK(result_of("CausalConvWithState 1x1x1{1} 1x1x3 outputs=2", 1) == Floats{0, 1});
  CHECK(shape_of("CausalConvWithState 2x3x4 3x1x1 outputs=2", 1) == "2x3x0");
}

TEST_CASE("CausalConvWithState's silu is z times its sigmoid") {
  const Floats y = result_of("CausalConvWithState 1x1x2{0,1} 1x1x1{1} activation=silu");
  CHECK(y[0] == 0);
  CHECK(y[1] == Approx(0.7310586));
  CHECK(result_of("CausalConvWithState 1x1x2{0,1} 1x1x1{1} activation=swish") == y);
}

TEST_CASE("CausalConvWithState takes empty tensors and refuses what does not fit") {
  CHECK(result_of("CausalConvWithState 1x1x0 1x1x2 - 1x1x1{7} outputs=2", 1) == Floats{7});
  CHECK(shape_of("CausalConvWithState 0x2x3 2x1x2") == "0x2x3");
  CHECK_THROWS_AS(run_case("CausalConvWithState 1x2x3 1x1x2"), ShapeError);
  CHECK_THROWS_AS(run_case("CausalConvWithState 1x2x3 2x1x0"), ShapeError);
  CHECK_THROWS_AS(run_case("CausalConvWithState 1x2 2x1x2"), ShapeError);
  CHECK_THROWS_WITH(run_case("CausalConvWithState 1x2x3 2x1x2 - 1x2x2"),
                    "CausalConvWithState 'output0': past_state is 1x2x2, expected 1x2x1");
  CHECK_THROWS_AS(run_case("CausalConvWithState 1x2x3 2x1x2 activation=relu"), ValueError);
}

// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("Det of matrices that a person can check") {
  CHECK(result_of("Det 2x2{1,2,3,4}")[0] == Approx(-2));
  CHECK(result_of("Det 3x3{2,0,0,0,3,0,0,0,5}") == Floats{30});
  CHECK(result_of("Det 3x3{0,1,0,0,0,1,1,0,0}") == Floats{1});  // two swaps
  CHECK(result_of("Det 2x2{0,1,1,0}") == Floats{-1});
  CHECK(result_of("Det 1x1{-7}") == Floats{-7});
}

TEST_CASE("Det of stacks, of empty matrices, and of those without an inverse") {
  CHECK(result_of("Det 2x2x2{1,0,0,1,2,0,0,2}") == Floats{1, 4});
  CHECK(shape_of("Det 4x5x2x2") == "4x5");
  CHECK(shape_of("Det 3x3") == "scalar");
  CHECK(result_of("Det 2x0x0") == Floats{1, 1});  // the empty product
  CHECK(shape_of("Det 0x3x3") == "0");
  CHECK(result_of("Det 2x2{1,2,2,4}") == Floats{0});
  CHECK(result_of("Det 2x2{0,0,0,0}") == Floats{0});
  CHECK(std::isnan(result_of("Det 2x2{nan,0,0,0}")[0]));
  CHECK(std::isnan(result_of("Det 2x2{0,0,0,nan}")[0]));
}

TEST_CASE("Det refuses what is not square") {
  CHECK_THROWS_WITH(run_case("Det 2x3"),
                    "Det 'output0': X is 2x3, expected square matrices in the last dimensions");
  CHECK_THROWS_AS(run_case("Det 3"), ShapeError);
}

TEST_CASE("Det's gradient is the cofactors, also where there is no inverse") {
  check_gradient("Det 3x3{0,1,0,0,0,1,2,0,0}", 1);
  check_gradient("Det 3x3{1,2,3,2,4,6,1,0,1}", 1);  // rank 2
  check_gradient("Det 3x3{1,2,3,2,4,6,3,6,9}", 1);  // rank 1: all cofactors are zero
  OperatorRunner runner = run_case("Det 2x2{1,2,3,4}", Mode::training);
  runner.backward({Tensor::of<float>({}, {1})});
  const auto grad = runner.grad_input(0).span<float>();
  const Floats cofactors{4, -3, -2, 1};
  for (std::size_t i = 0; i < 4; ++i) CHECK(grad[i] == Approx(cofactors[i]));
}

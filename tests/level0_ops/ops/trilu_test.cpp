// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("Trilu keeps the upper or the lower triangle with its diagonal") {
  const std::string line = "Trilu 3x3{1,2,3,4,5,6,7,8,9} ";
  CHECK(result_of(line) == Floats{1, 2, 3, 0, 5, 6, 0, 0, 9});
  CHECK(result_of(line + "upper=0") == Floats{1, 0, 0, 4, 5, 0, 7, 8, 9});
}

TEST_CASE("Trilu's k moves the diagonal up, and down where it is negative") {
  const std::string line = "Trilu 2x3{1,2,3,4,5,6} int64:scalar";
  CHECK(result_of(line + "{1}") == Floats{0, 2, 3, 0, 0, 6});
  CHECK(result_of(line + "{-1}") == Floats{1, 2, 3, 4, 5, 6});
  CHECK(result_of(line + "{1} upper=0") == Floats{1, 2, 0, 4, 5, 6});
  CHECK(result_of(line + "{-1} upper=0") == Floats{0, 0, 0, 4, 0, 0});
}

TEST_CASE("Trilu's k may lie outside of the matrix") {
  const Floats all = {1, 2, 3, 4}, none = {0, 0, 0, 0};
  const std::string line = "Trilu 2x2{1,2,3,4} int64:scalar";
  CHECK(result_of(line + "{9223372036854775807}") == none);
  CHECK(result_of(line + "{9223372036854775807} upper=0") == all);
  CHECK(result_of(line + "{-9223372036854775808}") == all);
  CHECK(result_of(line + "{-9223372036854775808} upper=0") == none);
}

TEST_CASE("Trilu takes stacks of matrices, empty ones, and every element type") {
  CHECK(result_of("Trilu 2x2x2{1,2,3,4,5,6,7,8}") == Floats{1, 2, 0, 4, 5, 6, 0, 8});
  CHECK(shape_of("Trilu 2x0x3") == "2x0x3");
  CHECK(shape_of("Trilu 3x0") == "3x0");
  CHECK(result_of<std::string>("Trilu string:2x2{a,b,c,d}") ==
        std::vector<std::string>{"a", "b", "", "d"});
}

TEST_CASE("Trilu refuses what has no triangle") {
  CHECK_THROWS_WITH(run_case("Trilu 3"),
                    "Trilu 'output0': the input is 3, expected two dimensions or more");
  CHECK_THROWS_AS(run_case("Trilu 2x3 int64:{1,1}"), ShapeError);
  CHECK_THROWS_AS(run_case("Trilu 2x3 int32:scalar{1}"), TypeError);
}

TEST_CASE("Trilu's gradient is the same triangle") {
  check_gradient("Trilu 3x4", 1);
  check_gradient("Trilu 2x4x3 int64:scalar{-1} upper=0", 1);
  OperatorRunner runner = run_case("Trilu 2x2 int64:scalar{1}", Mode::training);
  runner.backward({Tensor::of<float>({2, 2}, {5, 6, 7, 8})});
  const auto grad = runner.grad_input(0).span<float>();
  CHECK(Floats(grad.begin(), grad.end()) == Floats{0, 6, 0, 0});
}

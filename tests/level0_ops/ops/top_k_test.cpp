// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;
using Numbers = std::vector<std::int64_t>;

TEST_CASE("TopK finds the largest and where they are, in descending order") {
  const std::string line = "TopK 2x4{1,4,2,3,8,5,7,6} int64:{2}";
  CHECK(shape_of(line) == "2x2");
  CHECK(result_of(line) == Floats{4, 3, 8, 7});
  CHECK(result_of<std::int64_t>(line, 1) == Numbers{1, 3, 0, 2});
}

TEST_CASE("TopK finds the smallest along any axis") {
  CHECK(result_of("TopK 3x2{5,1,3,2,4,9} int64:{2} axis=0 largest=0") == Floats{3, 1, 4, 2});
  CHECK(result_of<std::int64_t>("TopK 3x2{5,1,3,2,4,9} int64:{2} axis=-2 largest=0", 1) ==
        Numbers{1, 0, 2, 1});
}

TEST_CASE("TopK takes the first of equals") {
  CHECK(result_of<std::int64_t>("TopK {2,3,3,2} int64:{3}", 1) == Numbers{1, 2, 0});
  CHECK(result_of<std::int64_t>("TopK {2,3,3,2} int64:{3} largest=0", 1) == Numbers{0, 3, 1});
}

TEST_CASE("a NaN is larger than any number for TopK") {
  CHECK(std::isnan(result_of("TopK {1,nan,inf} int64:{1}")[0]));
  CHECK(result_of("TopK {1,nan,inf} int64:{2} largest=0")[0] == 1);
}

TEST_CASE("TopK takes none, all, and integers") {
  CHECK(shape_of("TopK 2x3 int64:{0}") == "2x0");
  CHECK(shape_of("TopK 0x3 int64:{2}") == "0x2");
  CHECK(result_of<std::int64_t>("TopK int64:{1,3,2} int64:{3}") == Numbers{3, 2, 1});
}

TEST_CASE("before opset 10 TopK's k is an attribute") {
  CHECK(result_of("TopK@1 {1,3,2} k=2") == Floats{3, 2});
  CHECK(result_of("TopK@10 {1,3,2} int64:{2}") == Floats{3, 2});
}

TEST_CASE("TopK refuses a k that its axis does not have") {
  CHECK_THROWS_WITH(run_case("TopK 2x3 int64:{4}"),
                    "TopK 'output0': K is 4, expected 0 to 3, the size of dimension 1 of 2x3");
  CHECK_THROWS_AS(run_case("TopK 2x3 int64:{-1}"), ValueError);
  CHECK_THROWS_AS(run_case("TopK 2x3 int64:{1,1}"), ShapeError);
  CHECK_THROWS_WITH(run_case("TopK 2x3"), "TopK 'output0': input 1 (K) is missing");
  CHECK_THROWS_AS(run_case("TopK 2x3 int64:{1} axis=2"), ValueError);
  CHECK_THROWS_AS(run_case("TopK bool:2x3 int64:{1}"), TypeError);
}

TEST_CASE("the gradient of TopK goes to the chosen elements alone") {
  check_gradient("TopK 3x4 int64:{2}", 1);
  check_gradient("TopK 2x3x4 int64:{2} axis=1 largest=0", 1);
  OperatorRunner runner = run_case("TopK {1,3,2} int64:{2}", Mode::training);
  runner.backward({Tensor::of<float>({2}, {5, 6}), Tensor()});
  const auto grad = runner.grad_input(0).span<float>();
  CHECK(Floats(grad.begin(), grad.end()) == Floats{0, 5, 6});
}

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("BiasAdd adds a row and a tensor") {
  CHECK(result_of("com.microsoft.BiasAdd 2x2{1,2,3,4} {10,20} 2x2{100,200,300,400}") ==
        Floats{111, 222, 313, 424});
}

TEST_CASE("BiasSplitGelu weighs one half with Gelu of the other") {
  // {1, 2} and {0, 10}; Gelu(0) = 0, Gelu(10) = 10 in float32
  CHECK(result_of("com.microsoft.BiasSplitGelu 1x4{0,0,0,9} {1,2,0,1}") == Floats{0, 20});
  CHECK(shape_of("com.microsoft.BiasSplitGelu 2x3x8 8") == "2x3x4");
}

TEST_CASE("BiasSoftmax is one distribution of everything from its axis on") {
  CHECK(result_of("com.microsoft.BiasSoftmax 1x2x2{1,1,0,2} 2x2{0,0,1,-1} axis=1 "
                  "is_inner_broadcast=0") == Floats{0.25F, 0.25F, 0.25F, 0.25F});
  CHECK(result_of("com.microsoft.BiasSoftmax 2x2{1,1,0,2} 2{1,1} axis=1 is_inner_broadcast=1") ==
        result_of("Softmax 2x2{1,1,0,2}"));
}

TEST_CASE("BiasDropout drops nothing in inference, and adds what is left of the network") {
  const std::string line = "com.microsoft.BiasDropout 2x2{1,2,3,4} {10,20} ";
  CHECK(result_of(line) == Floats{11, 22, 13, 24});
  CHECK(result_of(line + "2x2{1,1,1,1} scalar{0.9}") == Floats{12, 23, 14, 25});
  const std::string training = line + "- scalar{0.5} bool:scalar{1} seed=1 outputs=2";
  const Floats y = result_of(training);
  const auto mask = result_of<bool>(training, 1);
  const Floats doubled = {22, 44, 26, 48};
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == (mask[i] ? doubled[i] : 0));
}

TEST_CASE("a bias that is wider than what it is added to is refused") {
  CHECK_THROWS_AS(run_case("com.microsoft.BiasAdd 1x2 3x2 1x2"), ShapeError);
  CHECK_THROWS_AS(run_case("com.microsoft.BiasSplitGelu 2x3 3"), ShapeError);
}

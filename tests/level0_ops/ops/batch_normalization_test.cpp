// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/core/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("BatchNormalization uses the given statistics") {
  // scale {2, 1}, b {0, 5}, mean {1, 2}, var {4, 1}
  CHECK(result_of("BatchNormalization 1x2x2{1,3,2,4} {2,1} {0,5} {1,2} {4,1} epsilon=0") ==
        Floats{0, 2, 5, 7});
}

TEST_CASE("while training it uses the batch's, and moves the running ones") {
  // mean 3, variance 2 (of the population, not of the sample: that were 8/3)
  const std::string line =
      "BatchNormalization 2x1x2{1,3,3,5} {1} {0} {10} {20} epsilon=0 momentum=0.75 "
      "training_mode=1 outputs=3";
  const Floats y = result_of(line);
  CHECK(y[0] == Approx(-std::sqrt(2.0)));
  CHECK(y[1] == Approx(0).margin(1e-6));
  CHECK(y[3] == Approx(std::sqrt(2.0)));
  CHECK(result_of(line, 1).at(0) == Approx(0.75 * 10 + 0.25 * 3));
  CHECK(result_of(line, 2).at(0) == Approx(0.75 * 20 + 0.25 * 2));
}

TEST_CASE("old versions train where several outputs are asked for") {
  const std::string line = "BatchNormalization@7 2x1{1,3} {1} {0} {0} {9} epsilon=0 ";
  CHECK(result_of(line) == Floats{1.0f / 3, 1});
  CHECK(result_of(line + "outputs=5") == Floats{-1, 1});
  CHECK(result_of(line + "outputs=5", 3) == Floats{2});  // the batch's mean
  CHECK(result_of(line + "outputs=5", 4) == Floats{1});  // and variance
}

TEST_CASE("without spatial every element is a channel") {
  CHECK(result_of("BatchNormalization@7 1x1x2{1,4} 1x2{1,1} 1x2{0,0} 1x2{1,2} 1x2{1,4} spatial=0 "
                  "epsilon=0") == Floats{0, 1});
}

TEST_CASE("BatchNormalization's gradients agree with central differences") {
  check_gradient("BatchNormalization 3x2x4 2 2 2 2%3", 3);
  check_gradient("BatchNormalization 3x2x2x3 2 2 2 2%3 training_mode=1 outputs=3", 3);
  check_gradient("BatchNormalization 5x3 3 3 3 3%3 training_mode=1 outputs=3", 3);
  check_gradient("BatchNormalization@9 2x2x3 2 2 2 2%3", 3);
}

TEST_CASE("BatchNormalization refuses what does not fit") {
  CHECK_THROWS_AS(run_case("BatchNormalization 1x2x2 3 2 2 2%1"), ShapeError);
  CHECK_THROWS_AS(run_case("BatchNormalization 1x2x2 2 2 2 3%1"), ShapeError);
  CHECK_THROWS_AS(run_case("BatchNormalization 1x2x2 float64:2 2 2 2%1"), TypeError);
  CHECK_THROWS_AS(run_case("BatchNormalization 1x2x2 2 2 2 2%1 outputs=3"), ValueError);
}

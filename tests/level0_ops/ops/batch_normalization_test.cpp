// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/core/errors/error.hpp"
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

// Values are NumPy's in float64: mean 0 and deviation 1e30 of {-1e30, 1e30}.
TEST_CASE("statistics that float32 does not hold are no matter of their size") {
  const Floats y =
      result_of("BatchNormalization 2x1{-1e30,1e30} {1} {0} {0} {1} training_mode=1 outputs=3");
  CHECK(y == Floats{-1, 1});
  // 3e38 - -3e38 is more than float32 holds, and so is the inverse of 1e-39.
  CHECK(result_of("BatchNormalization 2x1{-3e38,3e38} {1} {0} {0} {1} training_mode=1 outputs=3") ==
        Floats{-1, 1});
  CHECK(result_of("BatchNormalization 2x1{0,2e-39} {1} {0} {0} {1} training_mode=1 outputs=3 "
                  "epsilon=0") == Floats{-1, 1});
  // The distance of floats from a mean between floats: 16777216, 16777218, 16777221.
  const Floats odd = result_of(
      "BatchNormalization 3x1{16777216,16777218,16777222} {1} {0} {0} {1} training_mode=1 "
      "outputs=3 epsilon=0");
  const double deviation = std::sqrt((64.0 + 4 + 100) / 27);
  CHECK(double(odd.at(0)) == Approx(-8.0 / 3 / deviation));
  CHECK(double(odd.at(1)) == Approx(-2.0 / 3 / deviation));
  // Given statistics: (3e38 + 3e38) / 1e19.
  CHECK(result_of("BatchNormalization 1x1{3e38} {1e-20} {0} {-3e38} {1e38} epsilon=0").at(0) ==
        Approx(0.6F));
  // Gradient of large ones: y is linear between two numbers, and does not move; 1 / 1e30 is left.
  OperatorRunner runner =
      run_case("BatchNormalization 3x1{-1e30,0,1e30} {1} {0} {0} {1} training_mode=1 outputs=3",
               Mode::training);
  runner.backward({Tensor::of<float>({3, 1}, {1, 0, 0}), Tensor(), Tensor()});
  // dx = (dy - mean dy - y mean(dy y)) / deviation with y = -1.5^0.5, 0, 1.5^0.5: 1/6, -1/3, 1/6.
  const double scale = 1 / (1e30 * std::sqrt(2.0 / 3));
  const auto dx = runner.grad_input(0).span<float>();
  CHECK(double(dx[0]) / scale == Approx(1.0 / 6));
  CHECK(double(dx[1]) / scale == Approx(-1.0 / 3));
  CHECK(double(dx[2]) / scale == Approx(1.0 / 6));
}

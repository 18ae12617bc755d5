// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("equal scores cost the logarithm of the number of classes") {
  CHECK(result_of("SoftmaxCrossEntropyLoss 2x4{0,0,0,0,7,7,7,7} int64:{1,3}").at(0) ==
        Approx(std::log(4.0)));
}

TEST_CASE("SoftmaxCrossEntropyLoss reduces as told") {
  // softmax(0, log 3) = (1/4, 3/4)
  const std::string line = "SoftmaxCrossEntropyLoss 2x2{0,1.0986123,0,1.0986123} int64:{0,1} ";
  const double a = std::log(4.0), b = std::log(4.0 / 3);
  const Floats each = result_of(line + "reduction=none");
  CHECK(each.at(0) == Approx(a));
  CHECK(each.at(1) == Approx(b));
  CHECK(result_of(line + "reduction=sum").at(0) == Approx(a + b));
  CHECK(result_of(line).at(0) == Approx((a + b) / 2));
}

TEST_CASE("weights count in the mean's divisor") {
  const double a = std::log(4.0), b = std::log(4.0 / 3);
  CHECK(result_of("SoftmaxCrossEntropyLoss 2x2{0,1.0986123,0,1.0986123} int32:{0,1} {1,3}").at(0) ==
        Approx((a + 3 * b) / 4));
}

TEST_CASE("an ignored label costs nothing and may lie outside the classes") {
  CHECK(result_of("SoftmaxCrossEntropyLoss 2x4{0,0,0,0,5,1,2,3} int64:{1,-1} ignore_index=-1")
            .at(0) == Approx(std::log(4.0)));
  CHECK(result_of("SoftmaxCrossEntropyLoss 1x2{1,2} int64:{9} ignore_index=9 reduction=sum") ==
        Floats{0});
}

TEST_CASE("large scores do not overflow") {
  CHECK(result_of("SoftmaxCrossEntropyLoss 1x2{1000,0} int64:{1}").at(0) == Approx(1000));
}

TEST_CASE("log_prob is the logarithm of the softmax") {
  const std::string line = "SoftmaxCrossEntropyLoss 1x2{0,1.0986123} int64:{0} outputs=2";
  CHECK(result_of(line, 1).at(0) == Approx(std::log(0.25)));
  CHECK(result_of(line, 1).at(1) == Approx(std::log(0.75)));
}

TEST_CASE("NegativeLogLikelihoodLoss picks one element a label, over inner dimensions too") {
  const std::string line = "NegativeLogLikelihoodLoss 1x2x2{-1,-2,-3,-4} int64:1x2{1,0} ";
  CHECK(result_of(line + "reduction=none") == Floats{3, 2});
  CHECK(result_of(line + "reduction=sum") == Floats{5});
}

TEST_CASE("the gradients of the losses agree with central differences") {
  for (const std::string reduction : {"mean", "sum", "none"}) {
    const std::string rest = " reduction=" + reduction;
    check_gradient("SoftmaxCrossEntropyLoss 5x4 int64:5%4" + rest, 1);
    check_gradient("SoftmaxCrossEntropyLoss 5x4 int64:5%4 4%1 outputs=2" + rest, 1);
    check_gradient("SoftmaxCrossEntropyLoss 2x3x2x4 int64:2x2x4%3 3%1 ignore_index=1" + rest, 1);
    check_gradient("NegativeLogLikelihoodLoss 5x4x2 int64:5x2%4 4%1 ignore_index=2" + rest, 1);
  }
}

TEST_CASE("the losses refuse what has no meaning") {
  CHECK_THROWS_AS(run_case("SoftmaxCrossEntropyLoss 2x4 int64:{1,4}"), ValueError);
  CHECK_THROWS_AS(run_case("SoftmaxCrossEntropyLoss 2x4 int64:{1,-1}"), ValueError);
  CHECK_THROWS_AS(run_case("SoftmaxCrossEntropyLoss 2x4 int64:3%4"), ShapeError);
  CHECK_THROWS_AS(run_case("SoftmaxCrossEntropyLoss 2x4 int64:2%4 3"), ShapeError);
  CHECK_THROWS_AS(run_case("SoftmaxCrossEntropyLoss 4 int64:4%4"), ShapeError);
  CHECK_THROWS_AS(run_case("SoftmaxCrossEntropyLoss 2x4 int64:2%4 reduction=most"), ValueError);
  CHECK_THROWS_AS(run_case("SoftmaxCrossEntropyLoss 2x4 float32:2"), TypeError);
}

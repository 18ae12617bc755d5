// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

namespace {
void check_near(const Floats& got, const Floats& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(expected[i]));
}
}  // namespace

TEST_CASE("Softmax makes distributions along its axis") {
  // exp(log 3) = 3
  check_near(result_of("Softmax 1x2{0,1.0986123}"), {0.25f, 0.75f});
  check_near(result_of("Softmax 2x2{0,0,1.0986123,0} axis=0"), {0.25f, 0.5f, 0.75f, 0.5f});
  check_near(result_of("LogSoftmax 1x2{0,1.0986123}"), {std::log(0.25f), std::log(0.75f)});
}

TEST_CASE("large numbers do not overflow") {
  check_near(result_of("Softmax 1x2{10000,10000}"), {0.5f, 0.5f});
  check_near(result_of("LogSoftmax 1x2{10000,0}"), {0, -10000});
}

TEST_CASE("before opset 13 everything from the axis on is one line") {
  check_near(result_of("Softmax@11 1x2x2{0,0,0,0} axis=1"), {0.25f, 0.25f, 0.25f, 0.25f});
  check_near(result_of("Softmax@13 1x2x2{0,0,0,0} axis=1"), {0.5f, 0.5f, 0.5f, 0.5f});
}

TEST_CASE("Hardmax marks the first largest") {
  CHECK(result_of("Hardmax 2x3{1,3,3,2,1,0}") == Floats{0, 1, 0, 1, 0, 0});
}

TEST_CASE("an empty line is no error") { CHECK(result_of("Softmax 2x0").empty()); }

TEST_CASE("NaN spoils its own line only") {
  const Floats y = result_of("Softmax 2x2{nan,1,0,0}");
  CHECK(std::isnan(y[0]));
  CHECK(std::isnan(y[1]));
  CHECK(y[2] == Approx(0.5));
}

TEST_CASE("the gradients of Softmax and LogSoftmax agree with central differences") {
  for (const std::string op : {"Softmax", "LogSoftmax"}) {
    check_gradient(op + " 3x4", 1);
    check_gradient(op + " 2x3x4 axis=1", 1);
    check_gradient(op + "@11 2x3x2 axis=1", 1);
  }
}

TEST_CASE("Softmax refuses an axis outside its input") {
  CHECK_THROWS_AS(run_case("Softmax 2x3 axis=2"), ValueError);
  CHECK_THROWS_AS(run_case("Softmax 2x3 axis=-3"), ValueError);
  CHECK_THROWS_AS(run_case("Softmax int32:2x3"), TypeError);
}

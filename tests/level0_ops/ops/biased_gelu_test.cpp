// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;

namespace {

double gelu(double x) { return x * 0.5 * std::erfc(-x / std::sqrt(2.0)); }

}  // namespace

TEST_CASE("Gelu and BiasGelu are by erf, FastGelu is by tanh, QuickGelu by a sigmoid") {
  CHECK(result_of("com.microsoft.Gelu {1}").at(0) == Approx(gelu(1)));
  const auto biased = result_of("com.microsoft.BiasGelu 2x2{1,1,2,2} {0,-1}");
  CHECK(biased.at(0) == Approx(gelu(1)));
  CHECK(biased.at(1) == 0);
  CHECK(biased.at(3) == Approx(gelu(1)));
  const double by_tanh = 0.5 * (1 + std::tanh(std::sqrt(2 / M_PI) * (1 + 0.044715)));
  CHECK(result_of("com.microsoft.FastGelu {1}").at(0) == Approx(by_tanh));
  CHECK(result_of("com.microsoft.FastGelu {3} {-2}").at(0) == Approx(by_tanh));
  CHECK(result_of("com.microsoft.QuickGelu {2} alpha=0.5").at(0) == Approx(2 / (1 + std::exp(-1))));
}

TEST_CASE("a biased Gelu refuses a bias that does not fit") {
  CHECK_THROWS_AS(run_case("com.microsoft.BiasGelu 2x2 3"), ShapeError);
}

// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("SkipLayerNormalization normalizes a sum, and tells it") {
  // {1, 2} + {1, 4} = {2, 6}, whose mean is 4 and deviation 2.
  const auto run =
      run_case("com.microsoft.SkipLayerNormalization 1x1x2{1,2} 1x1x2{1,4} {1,2} {0,1} outputs=4");
  const auto y = run.output(0).tensor().span<float>();
  CHECK(y[0] == Approx(-1));
  CHECK(y[1] == Approx(3));
  CHECK(run.output(1).tensor().item<float>() == 4);
  CHECK(run.output(2).tensor().item<float>() == Approx(0.5));
  CHECK(run.output(3).tensor().span<float>()[1] == 6);
}

TEST_CASE("SkipLayerNormalization adds a bias, and a skip that is the same for all samples") {
  CHECK(result_of("com.microsoft.SkipLayerNormalization 2x1x2{1,2,3,4} 1x2{1,4} {1,1} {0,0} {1,-1} "
                  "outputs=4",
                  3) == Floats{3, 5, 5, 7});
}

TEST_CASE("SkipSimplifiedLayerNormalization divides a sum by its root mean square") {
  const auto y =
      result_of("com.microsoft.SkipSimplifiedLayerNormalization 1x2{1,2} 1x2{2,2} {1,2}");
  CHECK(y.at(0) == Approx(3 / std::sqrt(12.5)));
  CHECK(y.at(1) == Approx(8 / std::sqrt(12.5)));
  const auto simplified = result_of("SimplifiedLayerNormalization 1x2{3,4} {1,2}");
  CHECK(simplified.at(0) == Approx(y.at(0)));
  CHECK(simplified.at(1) == Approx(y.at(1)));
}

TEST_CASE("normalizations behind a sum refuse skips of another size, and statistics they lack") {
  CHECK_THROWS_AS(run_case("com.microsoft.SkipLayerNormalization 1x1x2 1x1x3 2 2"), ShapeError);
  CHECK_THROWS_AS(run_case("com.microsoft.SkipLayerNormalization 1x1x2 2x1x2 2 2"), ShapeError);
  CHECK_THROWS_AS(run_case("SimplifiedLayerNormalization 1x2 2 outputs=2"), Unsupported);
}

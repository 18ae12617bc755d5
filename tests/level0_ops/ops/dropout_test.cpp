// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("Dropout copies when it is not training") {
  CHECK(result_of("Dropout 3{1,nan,3}").at(0) == 1);
  CHECK(result_of("Dropout 3{1,2,3} scalar{0.9} bool:scalar{0}") == Floats{1, 2, 3});
  CHECK(result_of("Dropout@7 3{1,2,3} ratio=0.9") == Floats{1, 2, 3});
}

TEST_CASE("Dropout drops about its ratio and scales the rest") {
  const auto runner = run_case("Dropout 10000%1 scalar{0.25} bool:scalar{1} outputs=2");
  const auto y = runner.output(0).tensor().span<float>();
  const auto mask = runner.output(1).tensor().span<bool>();
  const OperatorCase same = parse_case("Dropout 10000%1");
  const auto x = std::as_const(same.inputs[0]).tensor().span<float>();
  for (std::size_t i = 0; i < y.size(); ++i) {
    REQUIRE(y[i] == (mask[i] ? Approx(x[i] / 0.75) : Approx(0)));
  }
  // Binomial: the standard deviation is 43; five of them.
  CHECK(std::abs(std::count(mask.begin(), mask.end(), false) - 2500) < 217);
}

TEST_CASE("Dropout rounds small floats once") {
  // 7 / 0.9 is 7.7777..., 7 float16(1 / 0.9) is 7.7793.
  const auto runner = run_case("Dropout float16:4{7,7,7,7} scalar{0.1} bool:scalar{1}");
  for (const Float16 y : runner.output(0).tensor().span<Float16>()) {
    CHECK((float(y) == 0 || float(y) == float(Float16(7 / 0.9f))));
  }
}

TEST_CASE("before opset 12 training mode drops, with a mask of the input's type before opset 10") {
  const OperatorRunner runner = run_case("Dropout@7 1000%1 ratio=0.5 outputs=2", Mode::training);
  const auto mask = runner.output(1).tensor().span<float>();
  CHECK(std::count(mask.begin(), mask.end(), 0.0f) > 400);
  CHECK(std::count(mask.begin(), mask.end(), 0.0f) < 600);
}

TEST_CASE("ratio 0 drops nothing") {
  CHECK(result_of("Dropout 3{1,2,3} scalar{0} bool:scalar{1}") == Floats{1, 2, 3});
}

TEST_CASE("Dropout's gradient agrees with central differences") {
  check_gradient("Dropout 4x5 scalar{0.5} bool:scalar{1}", 1);
  check_gradient("Dropout@10 4x5", 1);
}

TEST_CASE("Dropout refuses a ratio that drops everything or less than nothing") {
  CHECK_THROWS_AS(run_case("Dropout 3 scalar{1} bool:scalar{1}"), ValueError);
  CHECK_THROWS_AS(run_case("Dropout 3 scalar{-0.5} bool:scalar{1}"), ValueError);
  CHECK_THROWS_AS(run_case("Dropout 3 2%1 bool:scalar{1}"), ShapeError);
}

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

namespace {

const std::string kEmbed = "com.microsoft.EmbedLayerNormalization ";
const std::string kWordRows = "3x2{0,1,2,4,6,12} ", kPlaceRows = "3x2{0,0,10,20,100,200} ";

}  // namespace

TEST_CASE("EmbedLayerNormalization adds words, places and segments, and normalizes each row") {
  const auto run = run_case(kEmbed + "int32:1x2{2,0} int32:1x2{1,0} " + kWordRows + kPlaceRows +
                            "2x2{0,0,1,3} {1,2} {0,5} outputs=3");
  const auto sum = run.output(2).tensor().span<float>();
  CHECK(Floats(sum.begin(), sum.end()) == Floats{7, 15, 10, 21});
  const auto y = run.output(0).tensor().span<float>();  // two numbers normalize to -1, 1
  CHECK(y[0] == Approx(-1));
  CHECK(y[1] == Approx(7));
  CHECK(y[2] == Approx(-1));
}

TEST_CASE("EmbedLayerNormalization takes places as they are given, and counts the mask") {
  const auto run = run_case(kEmbed + "int32:2x2{1,1,1,1} - " + kWordRows + kPlaceRows +
                            "- {1,1} {0,0} int32:2x2{1,1,1,0} int32:1x2{2,0} outputs=3");
  const auto sum = run.output(2).tensor().span<float>();
  CHECK(Floats(sum.begin(), sum.end()) == Floats{102, 204, 2, 4, 102, 204, 2, 4});
  const auto counts = run.output(1).tensor().span<std::int32_t>();
  CHECK(std::vector<std::int32_t>(counts.begin(), counts.end()) == std::vector<std::int32_t>{2, 1});
}

TEST_CASE("EmbedLayerNormalization refuses more places than it has, and a mask of another size") {
  const std::string rest = kWordRows + "1x2{0,0} - {1,1} {0,0}";
  CHECK_THROWS_AS(run_case(kEmbed + "int32:1x2{0,0} - " + rest), ShapeError);
  CHECK_THROWS_AS(run_case(kEmbed + "int32:1x1{0} - " + rest + " int32:1x2{1,1}"), ShapeError);
}

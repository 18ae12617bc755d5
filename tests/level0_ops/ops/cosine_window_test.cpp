// SPDX-License-Identifier: Apache-2.0
// HannWindow, HammingWindow, BlackmanWindow and MelWeightMatrix.
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;

namespace {

void check_values(const std::string& line, const std::vector<double>& expected) {
  INFO(line);
  const auto y = result_of<double>(line + " output_datatype=11");
  REQUIRE(y.size() == expected.size());
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == Approx(expected[i]).margin(1e-15));
}

}  // namespace

TEST_CASE("a symmetric window ends as it begins, a periodic one begins again") {
  check_values("HannWindow int64:{5} periodic=0", {0, 0.5, 1, 0.5, 0});
  check_values("HannWindow int64:{4}", {0, 0.5, 1, 0.5});
  check_values("HammingWindow int32:{5} periodic=0", {4 / 46.0, 25 / 46.0, 1, 25 / 46.0, 4 / 46.0});
  check_values("HammingWindow int64:scalar{2}", {4 / 46.0, 1});
  check_values("BlackmanWindow int64:{5} periodic=0", {0, 0.34, 1, 0.34, 0});
  check_values("BlackmanWindow int64:{4}", {0, 0.34, 1, 0.34});
}

TEST_CASE("windows of nothing, of one point, and of other types") {
  CHECK(shape_of("HannWindow int64:{0}") == "0");
  check_values("HannWindow int64:{1}", {0});
  CHECK(std::isnan(result_of("HannWindow int64:{1} periodic=0").at(0)));  // 0 / 0
  CHECK(result_of<std::int8_t>("HannWindow int64:{4} output_datatype=3") ==
        std::vector<std::int8_t>{0, 0, 1, 0});
  CHECK(float(result_of<Float16>("HannWindow int64:{2} output_datatype=10").at(1)) == 1);
}

TEST_CASE("windows refuse an invalid size") {
  CHECK_THROWS_AS(run_case("HannWindow int64:{-1}"), ValueError);
  CHECK_THROWS_AS(run_case("HannWindow int64:{1,2}"), ShapeError);
  CHECK_THROWS_AS(run_case("HannWindow int64:{9223372036854775807}"), Error);
  CHECK_THROWS_AS(run_case("HannWindow int64:{4} output_datatype=8"), ValueError);
}

TEST_CASE("MelWeightMatrix's triangles rise from one edge to the next and fall to the third") {
  // One triangle over a spectrum of nine bins, 500 Hz apart: the edges are 0 Hz, 4000 Hz and one
  // third and two thirds of the way in mel. mel(4000) = 2146; a third is 621 Hz, two thirds 1793
  // Hz, in bins of 17 / 8000: 0, 1 and 3.
  check_values(
      "MelWeightMatrix int64:scalar{1} int64:scalar{16} int64:scalar{8000} scalar{0} "
      "scalar{4000}",
      {0, 1, 0.5, 0, 0, 0, 0, 0, 0});
  CHECK(shape_of("MelWeightMatrix int64:scalar{0} int64:scalar{16} int64:scalar{8000} scalar{0} "
                 "scalar{4000}") == "9x0");
}

TEST_CASE("MelWeightMatrix refuses edges that no spectrum has") {
  const std::string line = "MelWeightMatrix int64:scalar{2} int64:scalar{16} ";
  CHECK_THROWS_AS(run_case(line + "int64:scalar{8000} scalar{0} scalar{90000}"), ValueError);
  CHECK_THROWS_AS(run_case(line + "int64:scalar{8000} scalar{0} scalar{inf}"), ValueError);
  CHECK_THROWS_AS(run_case(line + "int64:scalar{8000} scalar{9} scalar{3}"), ValueError);
  CHECK_THROWS_AS(run_case(line + "int64:scalar{8000} scalar{nan} scalar{3}"), ValueError);
  CHECK_THROWS_AS(run_case(line + "int64:scalar{0} scalar{0} scalar{3}"), ValueError);
  CHECK_THROWS_AS(run_case("MelWeightMatrix int64:scalar{-2} int64:scalar{16} int64:scalar{8000} "
                           "scalar{0} scalar{3}"),
                  ValueError);
  CHECK_THROWS_AS(run_case("MelWeightMatrix int64:scalar{2} int64:scalar{0} int64:scalar{8000} "
                           "scalar{0} scalar{3}"),
                  ValueError);
}

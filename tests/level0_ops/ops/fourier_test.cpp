// SPDX-License-Identifier: Apache-2.0
// DFT and STFT.
#include <cmath>
#include <complex>
#include <numbers>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Doubles = std::vector<double>;
using Complex = std::complex<double>;

namespace {

/// The sum that defines a transform of `x`, real and imaginary parts in turn.
Doubles by_definition(const Doubles& x, double sign) {
  const std::size_t n = x.size() / 2;
  Doubles result;
  for (std::size_t k = 0; k < n; ++k) {
    Complex sum = 0;
    for (std::size_t t = 0; t < n; ++t) {
      const double angle = sign * 2 * std::numbers::pi * double(k * t % n) / double(n);
      sum += Complex(x[2 * t], x[2 * t + 1]) * std::polar(1.0, angle);
    }
    result.push_back(sum.real());
    result.push_back(sum.imag());
  }
  return result;
}

double largest_difference(const Doubles& a, const Doubles& b) {
  REQUIRE(a.size() == b.size());
  double result = 0;
  for (std::size_t i = 0; i < a.size(); ++i) result = std::max(result, std::fabs(a[i] - b[i]));
  return result;
}

Doubles input_of(const std::string& line) {
  const OperatorCase same = parse_case(line);
  const auto x = same.inputs.at(0).tensor().span<double>();
  return {x.begin(), x.end()};
}

/// Rounding: some units in the last place of a sum of a thousand numbers of size 1.
constexpr double kRounding = 1e-11;

void check_values(const std::string& line, const Doubles& expected) {
  INFO(line);
  CHECK(largest_difference(result_of<double>(line), expected) < kRounding);
}

}  // namespace

TEST_CASE("DFT of four numbers") {
  const std::string x = "DFT float64:1x4x1{1,2,3,4} ";
  check_values(x, {10, 0, -2, 2, -2, 0, -2, -2});
  check_values(x + "onesided=1", {10, 0, -2, 2, -2, 0});
  check_values(x + "inverse=1", {2.5, 0, -0.5, -0.5, -0.5, 0, -0.5, 0.5});
  // Cut to two numbers, and zeros behind four.
  check_values(x + "int64:scalar{2}", {3, 0, -1, 0});
  check_values("DFT float64:1x1x1{1} int64:scalar{3}", {1, 0, 1, 0, 1, 0});
}

TEST_CASE("DFT is its definition at every length: small factors, large primes, products of these") {
  for (int n = 1; n <= 80; ++n) {
    const std::string line = "DFT float64:1x" + std::to_string(n) + "x2";
    check_values(line, by_definition(input_of(line), -1));
  }
  for (const int n : {128, 243, 625, 961, 997, 1024, 31 * 37}) {
    const std::string line = "DFT float64:1x" + std::to_string(n) + "x2";
    check_values(line, by_definition(input_of(line), -1));
    Doubles inverse = by_definition(input_of(line), 1);
    for (double& value : inverse) value /= n;
    check_values(line + " inverse=1", inverse);
  }
}

TEST_CASE("DFT goes along any axis but the last, an attribute until opset 19") {
  const Doubles expected = {4, 0, 6, 0, -2, 0, -2, 0};  // 1 + 3, 2 + 4; 1 - 3, 2 - 4
  check_values("DFT float64:2x2x1{1,2,3,4} - int64:scalar{0}", expected);
  check_values("DFT float64:2x2x1{1,2,3,4} - int64:scalar{-3}", expected);
  check_values("DFT@17 float64:2x2x1{1,2,3,4} axis=0", expected);
  check_values("DFT@17 float64:1x2x1{3,4}", {7, 0, -1, 0});
}

TEST_CASE("onesided and inverse together give a real signal back") {
  const std::string half = "DFT float64:1x3x2{10,0,-2,2,-2,0} ";
  CHECK(shape_of(half + "inverse=1 onesided=1") == "1x4x1");
  check_values(half + "inverse=1 onesided=1", {1, 2, 3, 4});
  // At an odd length the last bin has a twin: 10 + 2 (-2) + 2 (-2) first.
  CHECK(result_of<double>(half + "int64:scalar{5} inverse=1 onesided=1").at(0) ==
        Approx((10 - 4 - 4) / 5.0));
  // The imaginary part of its mean, which a real signal cannot have, counts as zero.
  check_values("DFT float64:1x2x2{4,9,0,0} inverse=1 onesided=1", {2, 2});
}

TEST_CASE("DFT of small floats and of nothing") {
  const auto y = result_of<Float16>("DFT float16:1x2x1{1,2}");
  CHECK(std::vector<float>(y.begin(), y.end()) == std::vector<float>{3, 0, -1, 0});
  CHECK(shape_of("DFT 0x4x1") == "0x4x2");
  check_values("DFT float64:1x0x1 int64:scalar{2}", {0, 0, 0, 0});
  CHECK_THROWS_AS(run_case("DFT 1x0x1"), ValueError);
}

TEST_CASE("DFT refuses what has no transform") {
  CHECK_THROWS_AS(run_case("DFT 4x3"), ShapeError);  // neither real nor complex
  CHECK_THROWS_AS(run_case("DFT 1"), ShapeError);
  CHECK_THROWS_WITH(
      run_case("DFT 4x3x1 - int64:scalar{2}"),
      "DFT 'output0': axis is 2, the last of 4x3x1, which holds the parts of a number");
  CHECK_THROWS_AS(run_case("DFT 4x3x1 - int64:scalar{3}"), ValueError);
  CHECK_THROWS_AS(run_case("DFT 4x3x1 int64:scalar{0}"), ValueError);
  CHECK_THROWS_AS(run_case("DFT 4x3x1 int64:scalar{-5}"), ValueError);
  CHECK_THROWS_AS(run_case("DFT 4x3x1 int64:{1,2}"), ShapeError);
  CHECK_THROWS_AS(run_case("DFT 4x3x2 onesided=1"), ShapeError);
  CHECK_THROWS_AS(run_case("DFT 4x3x1 onesided=1 inverse=1"), ShapeError);
  CHECK_THROWS_AS(run_case("DFT 1x3x1 int64:scalar{1000000000000}"), MemoryError);
  CHECK_THROWS_AS(run_case("DFT 1x3x1 int64:scalar{9223372036854775807}"), Error);
}

TEST_CASE("STFT transforms each frame, times the window") {
  const std::string x = "STFT float64:1x8x1{1,2,3,4,5,6,7,8} int64:scalar{4} ";
  check_values(x + "float64:{1,2,3,4}", {30, 0, -8, 12, -10, 0, 70, 0, -16, 20, -18, 0});
  check_values(x + "- int64:scalar{2}", {3, 0, -1, 0, 11, 0, -1, 0});
  check_values("STFT float64:1x8{1,2,3,4,5,6,7,8} int64:scalar{4} - int64:scalar{2}",
               {3, 0, -1, 0, 11, 0, -1, 0});
  // All of the signal is one frame; half of its spectrum is kept.
  Doubles whole = by_definition({1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0}, -1);
  whole.resize(10);
  check_values(x, whole);
}

TEST_CASE("STFT of complex signals keeps the whole spectrum") {
  check_values("STFT float64:1x2x2{1,2,3,4} int64:scalar{1} - int64:scalar{2} onesided=0",
               {4, 6, -2, -2});
  CHECK_THROWS_AS(run_case("STFT 1x2x2 int64:scalar{1} - int64:scalar{2}"), ValueError);
}

TEST_CASE("STFT refuses frames that do not fit") {
  CHECK_THROWS_WITH(run_case("STFT 1x4x1 int64:scalar{1} - int64:scalar{5}"),
                    "STFT 'output0': a frame of 5 does not fit into a signal of 4");
  CHECK_THROWS_AS(run_case("STFT 1x4x1 int64:scalar{0} 2"), ValueError);
  CHECK_THROWS_AS(run_case("STFT 1x4x1 int64:scalar{1} 2 int64:scalar{3}"), ShapeError);
  CHECK_THROWS_AS(run_case("STFT 1x4x1 int64:scalar{1} 2x2"), ShapeError);
  CHECK_THROWS_AS(run_case("STFT 4x1 int64:scalar{1} 2"), ShapeError);
  CHECK_THROWS_AS(run_case("STFT 1x4x1 int64:{1,2} 2"), ValueError);
  CHECK(shape_of("STFT 0x4x1 int64:scalar{1} 2") == "0x3x2x2");
}

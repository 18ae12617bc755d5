// SPDX-License-Identifier: Apache-2.0
// What the operators that draw random numbers draw is held against its distribution. Streams are
// fixed, so that a test that passes once passes always.
#include <algorithm>
#include <cmath>
#include <functional>

#include "d5/core/error.hpp"
#include "run_case.hpp"

using namespace d5;

namespace {

/// Kolmogorov and Smirnov: the largest distance between the two distribution functions, in units of
/// 1 / sqrt(n). Of right draws one in a thousand is above 1.95.
constexpr double kCritical = 1.95;
double distance(std::vector<double> draws, const std::function<double(double)>& distribution) {
  std::ranges::sort(draws);
  const double n = double(draws.size());
  double largest = 0;
  for (std::size_t i = 0; i < draws.size(); ++i) {
    const double p = distribution(draws[i]);
    largest = std::max({largest, double(i + 1) / n - p, p - double(i) / n});
  }
  return largest * std::sqrt(n);
}

double normal(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

/// Within five standard deviations of the mean and the variance of `draws`; `kurtosis` is that of
/// the distribution.
void check_moments(const std::vector<double>& draws, double mean, double variance,
                   double kurtosis) {
  const double n = double(draws.size());
  double sum = 0, squares = 0;
  for (const double x : draws) sum += x;
  for (const double x : draws) squares += (x - mean) * (x - mean);
  CHECK(std::fabs(sum / n - mean) < 5 * std::sqrt(variance / n));
  CHECK(std::fabs(squares / n - variance) < 5 * variance * std::sqrt((kurtosis - 1) / n));
}

template <class T = float>
std::vector<double> draws_of(const std::string& line) {
  const auto y = result_of<T>(line);
  return {y.begin(), y.end()};
}

}  // namespace

TEST_CASE("RandomNormal draws from the normal distribution") {
  const auto draws = draws_of<double>("RandomNormal shape=100x200 dtype=11 mean=3 scale=2");
  check_moments(draws, 3, 4, 3);
  CHECK(distance(draws, [](double x) { return normal((x - 3) / 2); }) < kCritical);
  CHECK(distance(draws, [](double x) { return normal((x - 3.1) / 2); }) > kCritical);
  check_moments(draws_of("RandomNormalLike 100x200"), 0, 1, 3);
}

TEST_CASE("RandomUniform draws from the interval alike") {
  const auto draws = draws_of("RandomUniform shape=20000 low=-1 high=4");
  check_moments(draws, 1.5, 25 / 12.0, 1.8);
  CHECK(distance(draws, [](double x) { return (x + 1) / 5; }) < kCritical);
  CHECK(*std::ranges::min_element(draws) >= -1);
  CHECK(*std::ranges::max_element(draws) <= 4);
  check_moments(draws_of<double>("RandomUniformLike float64:100x200"), 0.5, 1 / 12.0, 1.8);
}

TEST_CASE("Bernoulli draws one as often as the input says") {
  std::string line = "Bernoulli {";
  for (int i = 0; i < 20000; ++i) line += i == 0 ? "0.3" : ",0.3";
  check_moments(draws_of(line + "}"), 0.3, 0.21, (1 - 3 * 0.21) / 0.21);
  CHECK(result_of<std::int32_t>("Bernoulli {0,1,0,1} dtype=6") ==
        std::vector<std::int32_t>{0, 1, 0, 1});
}

TEST_CASE("Multinomial draws classes in proportion to the exponentials") {
  // Probabilities 0.1, 0.2, 0.3 and 0.4, moved by a thousand, and a class that is impossible.
  const auto y = result_of<std::int64_t>(
      "Multinomial 2x5{997.697414907,998.390562088,998.796027196,-inf,999.083709268,0,-inf,-inf,"
      "-inf,-inf} sample_size=20000 dtype=7");
  const double expected[] = {2000, 4000, 6000, 0, 8000};
  double chi_square = 0;
  for (const int c : {0, 1, 2, 4}) {
    const double drawn = double(std::count(y.begin(), y.begin() + 20000, c));
    chi_square += (drawn - expected[c]) * (drawn - expected[c]) / expected[c];
  }
  CHECK(chi_square < 16.3);  // three degrees of freedom: one in a thousand is above
  CHECK(std::count(y.begin(), y.begin() + 20000, 3) == 0);
  CHECK(std::count(y.begin() + 20000, y.end(), 0) == 20000);
}

TEST_CASE("a seed tells the numbers in inference; without one each node has its own") {
  const auto of_seed = result_of("RandomNormal shape=8 seed=5");
  CHECK(result_of("RandomNormalLike 8 seed=5") == of_seed);
  CHECK(result_of("RandomNormal shape=8 seed=6") != of_seed);
  CHECK(result_of("RandomNormal shape=8") != of_seed);
  OperatorRunner runner = run_case("RandomNormal shape=8 seed=5");
  runner.forward();
  const auto again = std::as_const(runner).output(0).tensor().span<float>();
  CHECK(std::vector<float>(again.begin(), again.end()) == of_seed);
}

TEST_CASE("draws have the type that is asked for, or the input's, and any shape") {
  CHECK(run_case("RandomUniform shape=3 dtype=16").output(0).tensor().dtype() == DType::bfloat16);
  CHECK(run_case("RandomNormalLike float16:3").output(0).tensor().dtype() == DType::float16);
  CHECK(run_case("RandomNormalLike string:{a,b} dtype=1").output(0).tensor().dtype() ==
        DType::float32);
  CHECK(shape_of("RandomNormal shape=2x0") == "2x0");
  CHECK(shape_of("Bernoulli 0x3%1") == "0x3");
  CHECK(shape_of("Multinomial 0x3 sample_size=2") == "0x2");
  CHECK(shape_of("Multinomial 2x0 sample_size=0") == "2x0");
}

TEST_CASE("what has no distribution is refused") {
  CHECK_THROWS_AS(run_case("RandomNormal shape=3 scale=-1"), ValueError);
  CHECK_THROWS_AS(run_case("RandomNormal shape=3 mean=nan"), ValueError);
  CHECK_THROWS_AS(run_case("RandomNormal shape=-3"), ValueError);
  CHECK_THROWS_AS(run_case("RandomNormal shape=3 dtype=6"), ValueError);
  CHECK_THROWS_AS(run_case("RandomUniform shape=3 low=2 high=1"), ValueError);
  CHECK_THROWS_AS(run_case("RandomUniform shape=3 high=inf"), ValueError);
  CHECK_THROWS_AS(run_case("RandomUniformLike int32:3"), ValueError);
  CHECK_THROWS_AS(run_case("Bernoulli {0.5,1.5}"), ValueError);
  CHECK_THROWS_AS(run_case("Bernoulli {nan}"), ValueError);
  CHECK_THROWS_AS(run_case("Multinomial 2x3 sample_size=-1"), ValueError);
  CHECK_THROWS_AS(run_case("Multinomial 3"), ShapeError);
  CHECK_THROWS_AS(run_case("Multinomial 1x0"), ShapeError);
  CHECK_THROWS_AS(run_case("Multinomial 1x2{nan,0}"), ValueError);
  CHECK_THROWS_AS(run_case("Multinomial 1x2{-inf,-inf}"), ValueError);
}

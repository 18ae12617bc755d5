// SPDX-License-Identifier: Apache-2.0
#include "core/statistics/uniformity.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"

using d5::RandomStream;
using d5::detail::Uniformity;

namespace {

constexpr int kRows = 2000, kColumns = 10;

/// The complaint about `kRows` rows of `kColumns` numbers of one stream, each changed by `change`.
std::string complaint_of(const std::function<double(double u, int row, int column)>& change) {
  RandomStream random(1);
  Uniformity draws;
  for (int row = 0; row < kRows; ++row) {
    std::vector<double> numbers;
    for (int column = 0; column < kColumns; ++column) {
      numbers.push_back(change(random.uniform_double(), row, column));
    }
    draws.add(numbers);
  }
  return draws.complaint();
}

}  // namespace

TEST_CASE("independent uniform numbers pass") {
  CHECK(complaint_of([](double u, int, int) { return u; }).empty());
}

TEST_CASE("the distance is the largest between two distribution functions") {
  Uniformity draws;
  draws.add(std::vector{0.7, 0.1});
  draws.add(std::vector{0.2, 0.25});
  CHECK(draws.distance() == Approx(0.5));  // at 0.25 three of four are drawn, and a quarter is due
  CHECK(draws.count() == 4);
}

TEST_CASE("a wrong mean, variance, distribution or element is found, and so is what depends") {
  const auto is_found = [](const std::string& what, const auto& change) {
    INFO(what);
    CHECK_THAT(complaint_of(change), Catch::StartsWith(what));
  };
  is_found("their mean", [](double u, int, int) { return std::pow(u, 1.1); });
  is_found("their variance", [](double u, int, int) { return 0.5 + 0.95 * (u - 0.5); });
  // Mean 1/2 and variance 1/12, but two numbers alone.
  is_found("their distribution function",
           [](double u, int, int) { return 0.5 + (u < 0.5 ? -1 : 1) / std::sqrt(12.0); });
  is_found("the mean of one element", [](double u, int, int column) {
    return column == 3 ? u / 2 : column == 4 ? 0.5 + u / 2 : u;  // together they balance
  });
  double last = 0;
  is_found("the correlation of neighbours in a run", [&](double u, int, int column) {
    return last = column % 2 == 1 ? std::fmod(last + 0.1 * u, 1) : u;
  });
  std::vector<double> row(kColumns);
  is_found("the correlation of an element", [&](double u, int number, int column) {
    return row[std::size_t(column)] = number % 2 == 1 ? row[std::size_t(column)] : u;
  });
}

TEST_CASE("the same numbers in every run are found") {
  std::vector<double> first(kColumns);
  const auto repeated = [&](double u, int row, int column) {
    return row == 0 ? first[std::size_t(column)] = u : first[std::size_t(column)];
  };
  CHECK_FALSE(complaint_of(repeated).empty());
}

TEST_CASE("rows of other lengths and numbers that are no places are refused") {
  Uniformity draws;
  CHECK(draws.complaint().empty());
  draws.add(std::vector{0.5, 1.0});
  CHECK_THROWS_AS(draws.add(std::vector{0.5}), d5::ShapeError);
  CHECK_THROWS_AS(draws.add(std::vector{0.5, std::nan("")}), d5::ValueError);
  CHECK_THROWS_AS(draws.add(std::vector{0.5, -0.1}), d5::ValueError);
}

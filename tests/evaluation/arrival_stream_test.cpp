// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/arrival_stream.hpp"

#include <boost/math/special_functions/gamma.hpp>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <functional>
#include <vector>

#include "core/statistics/uniformity.hpp"
#include "d5/core/errors/error.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using d5::testing::TemporaryFolder;

namespace {

/// The complaint about gaps with the distribution function `cumulative`: each gap's quantile must
/// be uniform, and independent of its neighbours'.
std::string complaint(ArrivalStream& stream, const std::function<double(double)>& cumulative) {
  detail::Uniformity places;
  double before = 0;
  for (int row = 0; row < 1000; ++row) {
    std::vector<double> gaps;
    for (int i = 0; i < 20; ++i) {
      const double now = *stream.next();
      gaps.push_back(cumulative(now - before));
      before = now;
    }
    places.add(gaps);
  }
  return places.complaint();
}

std::vector<double> first(ArrivalStream& stream, int count) {
  std::vector<double> moments;
  while (count-- > 0) {
    const auto moment = stream.next();
    if (!moment) break;
    moments.push_back(*moment);
  }
  return moments;
}

std::string recording(const TemporaryFolder& folder, const std::string& text) {
  const std::string file = folder / "arrivals.csv";
  std::ofstream(file) << text;
  return file;
}

}  // namespace

TEST_CASE("constant arrivals are at equal distances, without an error that grows") {
  const auto stream = constant_arrivals(3);
  double last = 0;
  for (int i = 0; i <= 3'000'000; ++i) last = *stream->next();
  CHECK(last == 1'000'000.0);
}

TEST_CASE("gaps of a Poisson process are exponential") {
  const auto stream = poisson_arrivals(250, 1);
  CHECK(complaint(*stream, [](double gap) { return 1 - std::exp(-250 * gap); }) == "");
}

TEST_CASE("gaps that are more even, or more clustered, are gamma distributed") {
  const double variation = GENERATE(0.3, 1.0, 2.5);
  const double shape = 1 / (variation * variation);
  const auto stream = gamma_arrivals(250, variation, 1);
  CAPTURE(variation);
  CHECK(complaint(*stream, [&](double gap) {
          return boost::math::gamma_p(shape, gap * shape * 250);
        }) == "");
}

TEST_CASE("gaps of bursts are hyperexponential, as Kuczura derived") {
  const double rate = 200, on = 0.1, off = 0.4;
  const auto stream = burst_arrivals({.rate = rate, .on_seconds = on, .off_seconds = off}, 1);
  const double sum = rate + 1 / on + 1 / off, root = std::sqrt(sum * sum - 4 * rate / off);
  const double r1 = (sum + root) / 2, r2 = (sum - root) / 2, k = (rate - r2) / (r1 - r2);
  CHECK(complaint(*stream, [&](double gap) {
          return 1 - k * std::exp(-r1 * gap) - (1 - k) * std::exp(-r2 * gap);
        }) == "");
}

TEST_CASE("a seed fixes random arrivals, another one changes them") {
  const auto a = poisson_arrivals(10, 7), b = poisson_arrivals(10, 7), c = poisson_arrivals(10, 8);
  const auto moments = first(*a, 100);
  CHECK(moments == first(*b, 100));
  CHECK(moments != first(*c, 100));
}

TEST_CASE("rates that are no rates are refused") {
  const double rate = GENERATE(0.0, -1.0, std::nan(""), HUGE_VAL);
  CHECK_THROWS_AS(constant_arrivals(rate), ValueError);
  CHECK_THROWS_AS(poisson_arrivals(rate, 0), ValueError);
  CHECK_THROWS_AS(gamma_arrivals(rate, 1, 0), ValueError);
  CHECK_THROWS_AS(gamma_arrivals(1, rate, 0), ValueError);
  CHECK_THROWS_AS(burst_arrivals({.rate = 1, .on_seconds = rate, .off_seconds = 1}, 0), ValueError);
}

TEST_CASE("a recording is played from its first moment on, scaled, cut and looped") {
  const TemporaryFolder folder;
  const std::string file = recording(folder, "time,user\n100,a\n101,b\r\n\n103.5,c\n104,d\n");
  using Moments = std::vector<double>;
  const auto play = [](const RecordingOptions& options) {
    return first(*recorded_arrivals(options), 6);
  };
  CHECK(play({.file = file}) == Moments{0, 1, 3.5, 4});
  CHECK(play({.file = file, .speed = 2}) == Moments{0, 0.5, 1.75, 2});
  CHECK(play({.file = file, .from = 1, .to = 4}) == Moments{0, 2.5});
  // 4 s long, and a mean gap of 4/3 s until the first comes again.
  const double round = 4 + 4.0 / 3;
  CHECK(play({.file = file, .loop = true}) == Moments{0, 1, 3.5, 4, round, round + 1});
}

TEST_CASE("malformed recordings are refused with their place") {
  const TemporaryFolder folder;
  const auto play = [&](const std::string& text, RecordingOptions options = {}) {
    options.file = recording(folder, text);
    return recorded_arrivals(options);
  };
  CHECK_THROWS_AS(recorded_arrivals({.file = "nowhere.csv"}), IoError);
  CHECK_THROWS_WITH(play("1\n2\nx\n"), Catch::Contains(":3:"));
  CHECK_THROWS_WITH(play("1\n2\n1.5\n"), Catch::Contains(":3:1: 1.5 comes after 2;"));
  CHECK_THROWS_WITH(play("1\n2s\n"), Catch::Contains(":2:"));
  CHECK_THROWS_WITH(play("1\nnan\n"), Catch::Contains(":2:"));
  CHECK_THROWS_AS(play("time\n"), FormatError);
  CHECK_THROWS_AS(play("1\n2\n", {.from = 5}), ValueError);
  CHECK_THROWS_AS(play("1\n1\n", {.loop = true}), ValueError);
  CHECK_THROWS_AS(play("1\n2\n", {.speed = 0}), ValueError);
  CHECK_THROWS_AS(play("1\n2\n", {.speed = 1e-300}), ValueError);
  CHECK_THROWS_AS(play("-1e308\n1e308\n", {}), ValueError);
}

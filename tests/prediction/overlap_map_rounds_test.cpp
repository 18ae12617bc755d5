// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/overlap/overlap_map_rounds.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "d5/core/errors/error.hpp"
#include "d5/core/statistics/student.hpp"

namespace d5 {
namespace {

/// Ratios around 1.5: all of a round are off by one factor, and each by one of its own.
class MadeUpRatios {
 public:
  std::vector<double> round(int pairs) {
    const double all = std::exp(0.15 * normal_(random_));
    std::vector<double> ratios;
    for (int i = 0; i < pairs; ++i) {
      ratios.push_back(1.5 * all * std::exp(0.05 * normal_(random_)));
    }
    return ratios;
  }
  /// 30 pairs, in so many rounds.
  Estimate slowdown(int rounds) {
    std::vector<std::vector<double>> all;
    for (int i = 0; i < rounds; ++i) all.push_back(round(30 / rounds));
    return estimate_of_groups(all);
  }

 private:
  std::mt19937 random_{20131};
  std::normal_distribution<double> normal_;
};

bool holds(const Estimate& estimate, double value) {
  return estimate.interval.low <= value && value <= estimate.interval.high;
}

bool meet(const Estimate& a, const Estimate& b) {
  return a.interval.low <= b.interval.high && b.interval.low <= a.interval.high;
}

TEST_CASE(
    "an interval of rounds holds the truth as often as it says, one of pairs alone does not") {
  constexpr int kMaps = 4000;
  MadeUpRatios made;
  int held = 0, met = 0, held_by_one = 0, met_by_one = 0;
  for (int i = 0; i < kMaps; ++i) {
    const Estimate a = made.slowdown(6), b = made.slowdown(6);
    held += holds(a, 1.5) ? 1 : 0;
    met += meet(a, b) ? 1 : 0;
    const Estimate one = made.slowdown(1), other = made.slowdown(1);
    held_by_one += holds(one, 1.5) ? 1 : 0;
    met_by_one += meet(one, other) ? 1 : 0;
  }
  // Four standard deviations of a share of 0.95 in 4,000 trials, 0.0034 each.
  CHECK(std::abs(held - 0.95 * kMaps) < 4 * 0.0034 * kMaps);
  CHECK(met > 0.95 * kMaps);
  CHECK(held_by_one < 0.3 * kMaps);
  CHECK(met_by_one < 0.3 * kMaps);
}

TEST_CASE("two rounds have Student's interval by hand") {
  // Logarithms -ln 2 and ln 2: mean 0, standard error ln 2, and 12.706 of them.
  const std::vector<std::vector<double>> rounds = {{0.5, 0.5, 9}, {2, 2, 0.1}};
  const Estimate slowdown = estimate_of_groups(rounds);
  CHECK(slowdown.value == Approx(1));
  CHECK(std::log2(slowdown.interval.high) == Approx(12.706).epsilon(1e-4));
  CHECK(std::log2(slowdown.interval.low) == Approx(-12.706).epsilon(1e-4));
}

std::vector<Measurement> a_record(int, double) { return {{.subject = "a", .samples = {1.5}}}; }

TEST_CASE("records of rounds tell which they are of") {
  const auto records = overlap_map_in_rounds({.rounds = 3}, a_record);
  REQUIRE(records.size() == 3);
  CHECK(condition_of(records[2], "round") == "3");
  CHECK(records[2].status == Status::passed);
  CHECK(condition_of(overlap_map_in_rounds({.rounds = 1}, a_record).front(), "round").empty());
  CHECK_THROWS_AS(overlap_map_in_rounds({.rounds = 0}, a_record), ValueError);
}

TEST_CASE("rounds end when their time is over or somebody wishes it, and what there is stays") {
  std::vector<double> shares;
  const auto late = overlap_map_in_rounds({.rounds = 6, .most_seconds = 1e-9},
                                          [&](int round, double most_seconds) {
                                            shares.push_back(most_seconds);
                                            return a_record(round, most_seconds);
                                          });
  REQUIRE(late.size() == std::size_t(OverlapRounds::kFewest));
  CHECK(shares.back() > 0);
  CHECK(late[0].reason == "3 of 6 rounds: its time was over");
  int measured = 0;
  const auto wished =
      overlap_map_in_rounds({.rounds = 6, .interrupt = {.wished = [&] { return measured == 2; }}},
                            [&](int round, double) {
                              ++measured;
                              return a_record(round, 0);
                            });
  REQUIRE(wished.size() == 2);
  CHECK(wished[0].status == Status::mistrusted);
  const auto broken = overlap_map_in_rounds({.rounds = 6}, [](int round, double) {
    if (round == 2) throw Interrupted("interrupted");
    return a_record(round, 0);
  });
  CHECK(broken.size() == 1);
}

}  // namespace
}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/level3_distributed/decentralized/quadratic.hpp"

using namespace d5;
using namespace d5::testing;

namespace {

double center_of(const DistributedOptimizer& elastic) {
  return *elastic.state().at("scheme/center").tensor().data<double>();
}

constexpr double kElasticRate = 0.1;

void check_center_follows(const Settings& settings, double pull) {
  const auto elastic = scheme("elastic_averaging", settings, kElasticRate);
  kDifferent.begin(*elastic);
  const auto n = std::size_t(rank_count);
  std::vector<double> x(kDifferent.x.begin(), kDifferent.x.begin() + rank_count);
  double center = 0;
  for (int step = 0; step < 20; ++step) {
    double pulled = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double distance = x[i] - center;
      pulled += distance;
      x[i] -= kElasticRate * kDifferent.gradient(i, x[i]) + pull * distance;
    }
    center += pull * pulled;
    (void)elastic->step(kDifferent.batch());
    CHECK(std::abs(x_of(*elastic) - x[std::size_t(this_rank)]) < kRounding);
    CHECK(std::abs(center_of(*elastic) - center) < kRounding);
    for (const double other : of_all_ranks(center_of(*elastic))) {
      CHECK(other == center_of(*elastic));
    }
  }
}

}  // namespace

TEST_CASE("elastic averaging follows its formulas from old values, with one center on all ranks") {
  check_center_follows({{"rho", 0.8}}, kElasticRate * 0.8);
  check_center_follows({{"beta", 0.5}}, 0.5 / rank_count);
  check_center_follows({}, 0.9 / rank_count);  // the paper's
}

TEST_CASE("with beta 0 it is as many runs apart, to the bit") {
  const auto elastic = scheme("elastic_averaging", {{"beta", 0}}, 0.1);
  const auto alone = local_optimizer("sgd", 0.1);
  for (int step = 0; step < 10; ++step) {
    (void)elastic->step(kDifferent.batch());
    (void)alone->step(kDifferent.batch());
    CHECK(x_of(*elastic) == x_of(*alone));
  }
}

TEST_CASE("test runs have the center, and training goes on with each rank's own") {
  const auto elastic = scheme("elastic_averaging", {{"rho", 0.8}}, 0.1);
  for (int step = 0; step < 5; ++step) (void)elastic->step(kDifferent.batch());
  const double own = x_of(*elastic);
  elastic->begin_test();
  CHECK(x_of(*elastic) == center_of(*elastic));
  elastic->end_test();
  CHECK(x_of(*elastic) == own);
}

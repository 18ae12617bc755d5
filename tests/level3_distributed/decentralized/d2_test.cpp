// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/level3_distributed/schemes/topology.hpp"
#include "tests/level3_distributed/decentralized/quadratic.hpp"

using namespace d5;
using namespace d5::testing;

TEST_CASE("d2 follows its formula, and ends at the optimum of all data") {
  constexpr double kStep = 0.1;
  const MixingMatrix w = topologies().at("ring").make(rank_count).lazy();
  const auto d2 = scheme("d2", {{"lazy", true}}, kStep);
  kDifferent.begin(*d2);
  const auto n = std::size_t(rank_count);
  std::vector<double> x(kDifferent.x.begin(), kDifferent.x.begin() + rank_count);
  std::vector<double> old_x, old_g;
  for (int step = 0; step < 400; ++step) {
    std::vector<double> v(n), g(n);
    for (std::size_t i = 0; i < n; ++i) {
      g[i] = kDifferent.gradient(i, x[i]);
      v[i] = step == 0 ? x[i] - kStep * g[i] : 2 * x[i] - old_x[i] - kStep * (g[i] - old_g[i]);
    }
    old_x = x, old_g = g;
    x = mixed(w, v);
    (void)d2->step(kDifferent.batch());
    if (step < 20) CHECK(std::abs(x_of(*d2) - x[std::size_t(this_rank)]) < kRounding);
  }
  double above = 0, below = 0;
  for (std::size_t r = 0; r < n; ++r) {
    above += kDifferent.a[r] * kDifferent.c[r];
    below += kDifferent.a[r];
  }
  // 400 steps leave less than (1 - 0.1 * 0.5) ^ 400 of the way, 1e-9.
  CHECK(std::abs(x_of(*d2) - above / below) < 1e-8);
}

TEST_CASE("d2 keeps the mean's descent where the rate changes") {
  const Problem problem{{1, 1, 1, 1}, {1, -1, 3, 2}, {0.5, 1.5, -2, 4}};
  const auto d2 = scheme("d2", {{"lazy", true}}, 0.2);
  problem.begin(*d2);
  double x = mean(problem.x);
  for (int step = 0; step < 12; ++step) {
    const double rate = 0.2 / (1 + step);
    d2->hyper_parameters().set("learning_rate", rate);
    x -= rate * (x - mean(problem.c));
    (void)d2->step(problem.batch());
    CHECK(std::abs(mean(of_all_ranks(x_of(*d2))) - x) < kRounding);
  }
}

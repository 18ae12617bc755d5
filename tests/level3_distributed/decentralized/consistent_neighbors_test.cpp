// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level3_distributed/schemes/topology.hpp"
#include "tests/level3_distributed/decentralized/quadratic.hpp"

using namespace d5;
using namespace d5::testing;

namespace {

constexpr double kRate = 0.2;

/// (I - W + eta A)^-1 eta A C, by elimination.
std::vector<double> limit(const MixingMatrix& w, const Problem& problem) {
  const auto n = std::size_t(rank_count);
  std::vector<std::vector<double>> m(n, std::vector<double>(n + 1));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) m[i][j] = (i == j) - w(int(i), int(j));
    m[i][i] += kRate * problem.a[i];
    m[i][n] = kRate * problem.a[i] * problem.c[i];
  }
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const double factor = m[i][k] / m[k][k];
      for (std::size_t j = k; j <= n; ++j) m[i][j] -= factor * m[k][j];
    }
  }
  std::vector<double> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = m[i][n] / m[i][i];
  return x;
}

double optimum(const Problem& problem) {
  double above = 0, below = 0;
  for (std::size_t r = 0; r < std::size_t(rank_count); ++r) {
    above += problem.a[r] * problem.c[r];
    below += problem.a[r];
  }
  return above / below;
}

}  // namespace

TEST_CASE("neighbours follow X <- W X - eta A (X - C), and end off the optimum") {
  for (const std::string name : {"ring", "star", "complete", "exponential"}) {
    CAPTURE(name);
    const MixingMatrix w = topologies().at(name).make(rank_count);
    const auto neighbors = scheme("consistent_neighbors", {{"topology", name}}, kRate);
    kDifferent.begin(*neighbors);
    std::vector<double> x(kDifferent.x.begin(), kDifferent.x.begin() + rank_count);
    for (int step = 0; step < 300; ++step) {
      const std::vector<double> old = x;
      x = mixed(w, old);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] -= kRate * kDifferent.gradient(i, old[i]);
      (void)neighbors->step(kDifferent.batch());
      if (step < 20) CHECK(std::abs(x_of(*neighbors) - x[std::size_t(this_rank)]) < kRounding);
    }
    const auto end = limit(w, kDifferent);
    // 300 steps leave (1 - eta a) ^ 300 of the way, with the least a 0.5: 2e-14.
    CHECK(std::abs(x_of(*neighbors) - end[std::size_t(this_rank)]) < 1e-11);
    if (rank_count > 1)
      CHECK(std::abs(mean(of_all_ranks(x_of(*neighbors))) - optimum(kDifferent)) > 0.01);
  }
}

TEST_CASE("with equal curvature the mean of neighbours follows plain descent") {
  const Problem problem{{1, 1, 1, 1}, {1, -1, 3, 2}, {0.5, 1.5, -2, 4}};
  const auto neighbors = scheme("consistent_neighbors", {}, kRate);
  problem.begin(*neighbors);
  double x = mean(problem.x);
  for (int step = 0; step < 30; ++step) {
    x -= kRate * (x - mean(problem.c));
    (void)neighbors->step(problem.batch());
    CHECK(std::abs(mean(of_all_ranks(x_of(*neighbors))) - x) < kRounding);
  }
}

TEST_CASE("without gradients the mean stays, and disagreement shrinks by the second eigenvalue") {
  for (const std::string name : {"ring", "star"}) {
    const double second = topologies().at(name).make(rank_count).second_eigenvalue();
    const auto neighbors = scheme("consistent_neighbors", {{"topology", name}});
    kFlat.begin(*neighbors);
    const double middle = mean(kFlat.x);
    const auto disagreement = [&] {
      double sum = 0;
      for (const double x : of_all_ranks(x_of(*neighbors))) sum += (x - middle) * (x - middle);
      return std::sqrt(sum);
    };
    for (int step = 0; step < 12; ++step) {
      const double before = disagreement();
      (void)neighbors->step(kFlat.batch());
      CHECK(std::abs(mean(of_all_ranks(x_of(*neighbors))) - middle) < kRounding);
      CHECK(disagreement() <= second * before + kRounding);
    }
    // After the first steps only the slowest component is left.
    const double before = disagreement();
    (void)neighbors->step(kFlat.batch());
    CHECK(disagreement() == Approx(second * before).epsilon(0.01).margin(kRounding));
  }
}

TEST_CASE("a step sends the parameters once to each neighbour, and nothing else") {
  for (const auto& [name, entry] : topologies().entries()) {
    if (name == "file" || (name == "hypercube" && rank_count == 3)) continue;
    CAPTURE(name);
    const auto neighbors = scheme("consistent_neighbors", {{"topology", name}});
    const auto degree = std::int64_t(entry.make(rank_count).neighbors(this_rank).size());
    const auto arena = std::int64_t(neighbors->executor().network().parameter_arena().bytes());
    const auto before = world()->traffic().total();
    (void)neighbors->step(kDifferent.batch());
    const auto after = world()->traffic().total();
    CHECK(after.bytes_sent - before.bytes_sent == degree * arena);
    CHECK(after.bytes_received - before.bytes_received == degree * arena);
    CHECK(after.calls - before.calls == 2 * degree);
  }
}

TEST_CASE("each rank keeps its rule's memory: momentum by mixing places alone") {
  const MixingMatrix w = topologies().at("ring").make(rank_count);
  const auto neighbors = scheme("consistent_neighbors", {}, 0.05, "momentum");
  const double momentum = neighbors->hyper_parameters().at("momentum");
  std::vector<double> x(std::size_t(rank_count), 0), v = x;
  for (int step = 0; step < 10; ++step) {
    const std::vector<double> old = x;
    x = mixed(w, old);
    for (std::size_t i = 0; i < x.size(); ++i) {
      v[i] = momentum * v[i] + kDifferent.gradient(i, old[i]);
      x[i] -= 0.05 * v[i];
    }
    (void)neighbors->step(kDifferent.batch());
    CHECK(std::abs(x_of(*neighbors) - x[std::size_t(this_rank)]) < kRounding);
  }
}

TEST_CASE("any rule's move at a rank's own place is added to the mean of places, or refused") {
  const MixingMatrix w = topologies().at("ring").make(rank_count);
  const auto rule_of = [](const OptimizerEntry& entry) {
    return std::dynamic_pointer_cast<ThreeStepOptimizer>(
        entry.make(make_executor(quadratic(0)), "loss"));
  };
  int trained = 0;
  for (const auto& [name, entry] : optimizers().entries()) {
    CAPTURE(name);
    std::shared_ptr<DistributedOptimizer> neighbors;
    try {
      neighbors =
          distributed_optimizers().at("consistent_neighbors").make(rule_of(entry), world(), {});
    } catch (const Unsupported& refused) {
      CHECK_THAT(refused.what(), Catch::Contains("choose a first-order rule"));
      continue;
    }
    const auto alone = rule_of(entry);
    kDifferent.begin(*neighbors);
    for (int step = 0; step < 5; ++step) {
      const double own = x_of(*neighbors);
      const double middle = mixed(w, of_all_ranks(own))[std::size_t(this_rank)];
      x_of(*alone) = own;
      (void)alone->step(kDifferent.batch());
      (void)neighbors->step(kDifferent.batch());
      CHECK(std::abs(x_of(*neighbors) - (middle + x_of(*alone) - own)) < kRounding);
    }
    ++trained;
  }
  CHECK(trained >= 10);  // not all are refused
}

TEST_CASE("parameters are on their way before the forward run begins") {
  struct Watch final : ExecutionEvent {
    std::int64_t calls = -1;
    void before_run(Pass) override { calls = world()->traffic().total().calls; }
  };
  const auto neighbors = scheme("consistent_neighbors", {{"topology", "complete"}});
  const auto watch = std::make_shared<Watch>();
  neighbors->executor().events().add(watch);
  const auto before = world()->traffic().total().calls;
  (void)neighbors->step(kDifferent.batch());
  CHECK(watch->calls - before == 2 * (rank_count - 1));
  CHECK(world()->traffic().total().calls == watch->calls);
}

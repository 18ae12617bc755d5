// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <thread>

#include "d5/level3_distributed/communicator/transport.hpp"
#include "d5/level3_distributed/decorators/wire_model.hpp"
#include "tests/level3_distributed/decentralized/quadratic.hpp"

using namespace d5;
using namespace d5::testing;

namespace {

/// The ranks of one node; and if the transport has windows, ranks that act as several nodes without
/// shared memory.
std::vector<std::shared_ptr<Communicator>> nodes() {
  std::vector<std::shared_ptr<Communicator>> result{world()};
  if (world()->medium() != transport().description) return result;
  result.push_back(std::make_shared<WireModel>(world(), WireOptions{.bytes_per_second = 1e12}));
  return result;
}

std::shared_ptr<DistributedOptimizer> pairs_over(std::shared_ptr<Communicator> ranks, double rate) {
  return scheme("asynchronous_neighbors", {}, rate, "sgd", std::move(ranks));
}

}  // namespace

TEST_CASE("whatever the timing, moves add up: the mean of all is that of all moves") {
  // Gradients that are the same everywhere: b alone.
  const Problem problem{{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {1, -2, 3, 0.5}};
  for (const auto& ranks : nodes()) {
    const auto pairs = pairs_over(ranks, 0.1);
    for (int step = 0; step < 50; ++step) (void)pairs->step(problem.batch());
    pairs->begin_test();
    CHECK(std::abs(x_of(*pairs) + 0.1 * 50 * mean(problem.b)) < kRounding);
    pairs->end_test();
  }
}

TEST_CASE("ranks that average in pairs stay together, where alone each would go its way") {
  const Problem problem{{1, 1, 1, 1}, {1, -1, 3, 2}, {0, 0, 0, 0}};
  for (const auto& ranks : nodes()) {
    const auto pairs = pairs_over(ranks, 0.05);
    for (int step = 0; step < 150; ++step) {
      (void)pairs->step(problem.batch());
      world()->barrier();
    }
    double farthest = 0;
    for (int r = 0; r < rank_count; ++r) {
      farthest = std::max(farthest, std::abs(problem.c[std::size_t(r)] - mean(problem.c)));
    }
    // Each averages once a step at least, and a step moves it by 0.05 of its way to its own end;
    // half of the way would take some 14 steps in which averages change nothing.
    CHECK(std::abs(x_of(*pairs) - mean(problem.c)) <= farthest / 2 + 1e-2);
  }
}

TEST_CASE("a rank that is slow keeps no other waiting") {
  const auto pairs = scheme("asynchronous_neighbors", {}, 0.1);
  world()->barrier();
  const bool is_slow = this_rank == last_rank && rank_count > 1;
  if (is_slow) std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const auto begin = std::chrono::steady_clock::now();
  for (int step = 0; step < 5; ++step) (void)pairs->step(kDifferent.batch());
  const auto took = std::chrono::steady_clock::now() - begin;
  // Five steps are a millisecond's work: they are over before the slow rank begins its first.
  if (!is_slow) CHECK(took < std::chrono::milliseconds(500));
  world()->barrier();
}

TEST_CASE("a step of pairs takes the other's parameters, and gives it the mean") {
  for (const auto& ranks : nodes()) {
    const auto pairs = pairs_over(ranks, 0.2);
    const auto arena = std::int64_t(pairs->executor().network().parameter_arena().bytes());
    const auto before = ranks->traffic().total();
    (void)pairs->step(kDifferent.batch());
    const auto after = ranks->traffic().total();
    CHECK(after.bytes_received - before.bytes_received == (rank_count > 1 ? arena : 0));
    CHECK(after.bytes_sent - before.bytes_sent == (rank_count > 1 ? arena : 0));
    world()->barrier();
  }
}

TEST_CASE("what a rank saved is what its neighbours find after it was restored") {
  for (const auto& ranks : nodes()) {
    const auto pairs = pairs_over(ranks, 0.1);
    for (int step = 0; step < 5; ++step) (void)pairs->step(kDifferent.batch());
    world()->barrier();
    ValueMap saved;
    for (const auto& [key, value] : pairs->state()) saved[key] = value.tensor().copy();
    const auto again = pairs_over(ranks, 0.1);
    again->restore(saved);
    pairs->begin_test();
    again->begin_test();
    CHECK(x_of(*again) == x_of(*pairs));
    pairs->end_test();
    again->end_test();
  }
}

// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>

#include "tests/level3_distributed/decentralized/quadratic.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using namespace d5::testing;

namespace {

double weight_of(const DistributedOptimizer& push_sum) {
  return push_sum.state().at("scheme/weight").tensor().item<double>();
}

/// A directed ring, and edges from rank 0 to all, so that ranks have different out-degrees.
std::vector<std::pair<int, int>> uneven_edges() {
  std::vector<std::pair<int, int>> edges;
  for (int i = 0; i < rank_count; ++i) {
    if (i != 0) edges.emplace_back(i, (i + 1) % rank_count);
    if (i != 0) edges.emplace_back(0, i);
  }
  return edges;
}

std::string uneven_file() {
  static const testing::TemporaryFolder folder;
  const std::string path = folder / "push.txt";
  std::ofstream file(path);
  for (const auto& [from, to] : uneven_edges()) file << from << ' ' << to << '\n';
  return path;
}

}  // namespace

TEST_CASE("on the exponential graph 2^k ranks agree after k steps") {
  if (!std::has_single_bit(unsigned(rank_count))) return;
  const auto push_sum = scheme("push_sum");
  kFlat.begin(*push_sum);
  for (int step = 0; step < std::countr_zero(unsigned(rank_count)); ++step) {
    (void)push_sum->step(kFlat.batch());
  }
  if (rank_count > 1) CHECK(x_of(*push_sum) == mean(kFlat.x));  // halves are exact
  CHECK(weight_of(*push_sum) == 1);
}

TEST_CASE("along uneven edges weights differ, sum to n, and ranks agree on the mean") {
  const auto push_sum = scheme("push_sum", {{"edges", uneven_file()}});
  kFlat.begin(*push_sum);
  for (int step = 0; step < 100; ++step) {
    (void)push_sum->step(kFlat.batch());
    const auto weights = of_all_ranks(weight_of(*push_sum));
    CHECK(std::abs(mean(weights) - 1) < kRounding);
  }
  // Rank 1 hears rank 0's n-th part and its own half: w_1 = w_0 / n + w_1 / 2, where w_0 is 1.
  if (rank_count > 2 && this_rank == 1) {
    CHECK(std::abs(weight_of(*push_sum) - 2.0 / rank_count) < kRounding);
  }
  CHECK(std::abs(x_of(*push_sum) - mean(kFlat.x)) < kRounding);
}

TEST_CASE("push_sum takes gradients at x / w, and follows its formula") {
  constexpr double kStep = 0.1;
  const auto push_sum = scheme("push_sum", {{"edges", uneven_file()}}, kStep);
  kDifferent.begin(*push_sum);
  const auto n = std::size_t(rank_count);
  std::vector<int> sends(n, 1);
  for (const auto& [from, to] : uneven_edges()) ++sends[std::size_t(from)];
  std::vector<double> x(kDifferent.x.begin(), kDifferent.x.begin() + rank_count), w(n, 1);
  for (int step = 0; step < 20; ++step) {
    std::vector<double> to_x(n), to_w(n);
    const auto add = [&](std::size_t from, std::size_t to) {
      to_x[to] += (x[from] - kStep * kDifferent.gradient(from, x[from] / w[from])) / sends[from];
      to_w[to] += w[from] / sends[from];
    };
    for (std::size_t i = 0; i < n; ++i) add(i, i);
    for (const auto& [from, to] : uneven_edges()) add(std::size_t(from), std::size_t(to));
    x = to_x, w = to_w;
    (void)push_sum->step(kDifferent.batch());
    const auto me = std::size_t(this_rank);
    CHECK(std::abs(x_of(*push_sum) - x[me] / w[me]) < kRounding);
  }
}

TEST_CASE("push_sum sends the parameters and one weight a step, to one rank") {
  for (const bool overlap : {false, true}) {
    const auto push_sum = scheme("push_sum", {{"overlap", overlap}});
    const auto arena = std::int64_t(push_sum->executor().network().parameter_arena().bytes());
    const auto before = world()->traffic().total();
    (void)push_sum->step(kDifferent.batch());
    const auto after = world()->traffic().total();
    CHECK(after.bytes_sent - before.bytes_sent == (rank_count > 1 ? arena + 8 : 0));
  }
}

TEST_CASE("with overlap what a step pushed is added one step later, and nothing is lost") {
  constexpr double kStep = 0.1;
  const auto push_sum = scheme("push_sum", {{"edges", uneven_file()}, {"overlap", true}}, kStep);
  kDifferent.begin(*push_sum);
  const auto n = std::size_t(rank_count), me = std::size_t(this_rank);
  std::vector<int> sends(n, 1);
  for (const auto& [from, to] : uneven_edges()) ++sends[std::size_t(from)];
  std::vector<double> x(kDifferent.x.begin(), kDifferent.x.begin() + rank_count), w(n, 1);
  std::vector<double> late_x(n, 0), late_w(n, 0);
  for (int step = 0; step < 20; ++step) {
    std::vector<double> sent_x(n, 0), sent_w(n, 0);
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = (x[i] - kStep * kDifferent.gradient(i, x[i] / w[i])) / sends[i];
      w[i] /= sends[i];
    }
    for (const auto& [from, to] : uneven_edges()) {
      sent_x[std::size_t(to)] += x[std::size_t(from)];
      sent_w[std::size_t(to)] += w[std::size_t(from)];
    }
    for (std::size_t i = 0; i < n; ++i) x[i] += late_x[i], w[i] += late_w[i];
    late_x = sent_x, late_w = sent_w;
    (void)push_sum->step(kDifferent.batch());
    CHECK(std::abs(x_of(*push_sum) - x[me] / w[me]) < kRounding);
    const ValueMap state = push_sum->state();
    const auto number = [&](const char* key) {
      return *state.at(std::string("scheme/") + key).tensor().data<double>();
    };
    CHECK(std::abs(number("arrived_weight") - late_w[me]) < kRounding);
    // Including messages in flight the weights sum to n.
    CHECK(std::abs(mean(of_all_ranks(number("weight") + number("arrived_weight"))) - 1) <
          kRounding);
  }
}

TEST_CASE("with overlap without gradients ranks agree on the mean all the same") {
  const auto push_sum = scheme("push_sum", {{"overlap", true}});
  kFlat.begin(*push_sum);
  for (int step = 0; step < 200; ++step) (void)push_sum->step(kFlat.batch());
  CHECK(std::abs(x_of(*push_sum) - mean(kFlat.x)) < kRounding);
}

TEST_CASE("with overlap a step ends before others have begun theirs") {
  const auto push_sum = scheme("push_sum", {{"overlap", true}});
  if (this_rank == 0) (void)push_sum->step(kDifferent.batch());
  world()->barrier();  // which rank 0 would not reach if it waited for what others push
  if (this_rank != 0) (void)push_sum->step(kDifferent.batch());
  (void)push_sum->step(kDifferent.batch());
}

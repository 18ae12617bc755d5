// SPDX-License-Identifier: Apache-2.0
// Schemes with local training and periodic averages of parameters.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/level3_distributed/decentralized/quadratic.hpp"

using namespace d5;
using namespace d5::testing;

namespace {

constexpr double kLocalRate = 0.1;

/// Each rank's parameter by the formulas: plain gradient descent, and a periodic mean, optionally
/// with slow momentum.
std::vector<double> averaged(int steps, int every, double alpha = 1, double beta = 0) {
  const auto n = std::size_t(rank_count);
  std::vector<double> x(n, 0);
  double start = 0, u = 0;
  for (int step = 1; step <= steps; ++step) {
    for (std::size_t i = 0; i < n; ++i) x[i] -= kLocalRate * kDifferent.gradient(i, x[i]);
    if (step % every != 0) continue;
    u = beta * u + (start - mean(x)) / kLocalRate;
    start -= alpha * kLocalRate * u;
    x.assign(n, start);
  }
  return x;
}

void check_follows(const std::string& name, const Settings& settings, int every, double alpha = 1,
                   double beta = 0) {
  const auto optimizer = scheme(name, settings, kLocalRate);
  for (int step = 1; step <= 10; ++step) {
    (void)optimizer->step(kDifferent.batch());
    const auto expected = averaged(step, every, alpha, beta);
    CHECK(std::abs(x_of(*optimizer) - expected[std::size_t(this_rank)]) < kRounding);
  }
}

}  // namespace

TEST_CASE("model averaging is plain descent apart, and the mean every so many steps") {
  check_follows("model_averaging", {{"every", 3}}, 3);
  check_follows("model_averaging", {{"every", 3}, {"all_reduce", "ring"}}, 3);
  check_follows("post_local", {{"until", 0}, {"every", 3}}, 3);
}

TEST_CASE("averaging after every step of plain descent is averaging gradients") {
  const auto apart = scheme("model_averaging", {{"every", 1}}, kLocalRate);
  const auto together = scheme("consistent_decentralized", {}, kLocalRate);
  for (int step = 0; step < 10; ++step) {
    (void)apart->step(kDifferent.batch());
    (void)together->step(kDifferent.batch());
    CHECK(std::abs(x_of(*apart) - x_of(*together)) < kRounding);
  }
}

TEST_CASE("model averaging sends the parameters in one call of every so many") {
  const auto optimizer = scheme("model_averaging", {{"every", 3}});
  const auto arena = std::int64_t(optimizer->executor().network().parameter_arena().bytes());
  for (int step = 1; step <= 6; ++step) {
    const auto before = world()->traffic().total();
    (void)optimizer->step(kDifferent.batch());
    const auto after = world()->traffic().total();
    CHECK(after.calls - before.calls == (step % 3 == 0 ? 1 : 0));
    CHECK(after.bytes_sent - before.bytes_sent ==
          (step % 3 == 0 ? Traffic::of_all_reduce(arena, rank_count) : 0));
  }
}

TEST_CASE("a rule's memory is kept, or averaged with the parameters") {
  for (const bool averages : {false, true}) {
    CAPTURE(averages);
    const auto optimizer =
        scheme("model_averaging", {{"every", 2}, {"state", averages ? "average" : "keep"}},
               kLocalRate, "momentum");
    for (int step = 0; step < 2; ++step) (void)optimizer->step(kDifferent.batch());
    const auto velocities =
        of_all_ranks(*optimizer->state().at("velocity/x").tensor().data<double>());
    for (const double other : velocities) {
      if (averages) CHECK(other == velocities[0]);
    }
    if (!averages && rank_count > 1) CHECK(velocities[0] != velocities[1]);
  }
}

TEST_CASE("a rule's memory is reset to that of a rule without a step where ranks average") {
  for (const char* name : {"model_averaging", "slow_momentum", "post_local"}) {
    CAPTURE(name);
    Settings settings{{"every", 3}};
    // The default for slow momentum.
    if (std::string_view(name) != "slow_momentum") settings.set("state", "reset");
    if (std::string_view(name) == "post_local") settings.set("until", 0);
    const auto optimizer = scheme(name, settings, kLocalRate, "momentum");
    const auto velocity = [&] {
      return *optimizer->state().at("velocity/x").tensor().data<double>();
    };
    const auto r = std::size_t(this_rank);
    for (int step = 1; step <= 6; ++step) {
      const double x = x_of(*optimizer);
      (void)optimizer->step(kDifferent.batch());
      // After a reset the first velocity is the gradient.
      if (step == 4) CHECK(std::abs(velocity() - kDifferent.gradient(r, x)) < kRounding);
      if (step % 3 == 0) CHECK(velocity() == 0);
      if (step % 3 != 0) CHECK(velocity() != 0);
    }
  }
}

TEST_CASE("post_local averages gradients until its step, and parameters from then on") {
  const auto optimizer = scheme("post_local", {{"until", 4}, {"every", 3}}, kLocalRate);
  const auto n = std::size_t(rank_count);
  std::vector<double> x(n, 0);
  for (int step = 1; step <= 12; ++step) {
    for (std::size_t i = 0; i < n; ++i) x[i] -= kLocalRate * kDifferent.gradient(i, x[i]);
    if (step <= 4 || step % 3 == 0) x.assign(n, mean(x));
    (void)optimizer->step(kDifferent.batch());
    CHECK(std::abs(x_of(*optimizer) - x[std::size_t(this_rank)]) < kRounding);
  }
}

TEST_CASE("slow momentum follows its formula; with alpha 1 and beta 0 it is model averaging") {
  check_follows("slow_momentum", {{"every", 2}, {"alpha", 0.7}, {"beta", 0.6}}, 2, 0.7, 0.6);
  const auto slow = scheme("slow_momentum", {{"every", 2}, {"alpha", 1}, {"beta", 0}}, kLocalRate);
  const auto mean_alone = scheme("model_averaging", {{"every", 2}}, kLocalRate);
  for (int step = 0; step < 10; ++step) {
    (void)slow->step(kDifferent.batch());
    (void)mean_alone->step(kDifferent.batch());
    CHECK(std::abs(x_of(*slow) - x_of(*mean_alone)) < kRounding);
  }
}

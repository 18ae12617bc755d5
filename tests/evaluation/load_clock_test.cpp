// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/load_clock.hpp"

#include <sys/prctl.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"

using namespace d5;

TEST_CASE("the load's clock is that of traces") {
  const std::int64_t before = Trace::now_ns(), now = monotonic_load_clock()->now();
  CHECK(before <= now);
  CHECK(now <= Trace::now_ns());
}

TEST_CASE("it sets its thread's timer slack, says so, and puts it back") {
  const int before = prctl(PR_GET_TIMERSLACK);
  {
    const auto clock = monotonic_load_clock({.spin_ns = 10'000, .slack_ns = 7});
    CHECK(prctl(PR_GET_TIMERSLACK) == 7);
    CHECK(clock->conditions() ==
          Conditions{{"timer_slack", setting(7e-9, "s")}, {"waiting", setting("spins 10 us")}});
  }
  CHECK(prctl(PR_GET_TIMERSLACK) == before);
  CHECK_THROWS_AS(monotonic_load_clock({.slack_ns = 0}), ValueError);
  CHECK_THROWS_AS(monotonic_load_clock({.spin_ns = -1}), ValueError);
}

TEST_CASE("a wait ends at its moment, not before") {
  const auto spin = GENERATE(std::int64_t{0}, std::int64_t{50'000}, std::int64_t{1'000'000'000});
  const auto clock = monotonic_load_clock({.spin_ns = spin});
  for (const std::int64_t length : {0, 1'000, 100'000, 3'000'000}) {
    const std::int64_t until = clock->now() + length;
    clock->wait_until(until);
    CHECK(clock->now() >= until);
  }
}

TEST_CASE("waking ends a wait, also one that begins after it") {
  const auto spin = GENERATE(std::int64_t{0}, std::int64_t{3'600'000'000'000});
  const auto clock = monotonic_load_clock({.spin_ns = spin});
  const std::int64_t hour = clock->now() + 3'600'000'000'000;
  clock->wake();
  clock->wait_until(hour);
  for (int i = 0; i < 100; ++i) {
    std::thread other([&] { clock->wake(); });
    clock->wait_until(hour);
    other.join();
  }
  CHECK(clock->now() < hour);
}

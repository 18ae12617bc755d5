// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/communicator/patience.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "core/machine/machine.hpp"
#include "tests/level3_distributed/this_rank.hpp"

using namespace d5;
using d5::testing::rank_count;
using Clock = std::chrono::steady_clock;

namespace {

[[nodiscard]] bool bind_to_one_core() {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(detail::machine().allowed.front()), &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace

TEST_CASE("a short wait keeps its core from other work, and a longer one gives it away") {
  if (rank_count > 1) return;  // their waits would be each other's other work
  std::atomic<bool> stop = false;
  std::atomic<std::int64_t> turns = 0;
  std::atomic<int> bound = 0;
  Clock::duration median{};
  bool is_given_away = false;
  std::thread other([&] {
    bound += bind_to_one_core();
    while (!stop) ++turns;
  });
  std::thread waits([&] {
    bound += bind_to_one_core();
    std::array<Clock::duration, 31> moments;
    for (auto& moment : moments) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const auto begin = Clock::now();
      detail::Patience patience;
      for (int i = 0; i < 20; ++i) patience.pause();  // a microsecond
      moment = Clock::now() - begin;
    }
    std::ranges::sort(moments);
    // A core that was given away is back after a time slice, of milliseconds; the median leaves out
    // slices that end just here.
    median = moments[moments.size() / 2];

    const std::int64_t before = turns;
    const auto deadline = Clock::now() + std::chrono::seconds(5);
    for (detail::Patience patience; turns == before && Clock::now() < deadline;) patience.pause();
    is_given_away = turns > before;
  });
  waits.join();
  stop = true;
  other.join();
  CHECK(bound == 2);
  CHECK(median < std::chrono::microseconds(500));
  CHECK(is_given_away);
}

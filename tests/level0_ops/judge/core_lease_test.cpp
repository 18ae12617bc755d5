// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/judge/core_lease.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <set>
#include <thread>
#include <vector>

#include "core/machine/machine.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/machine/threads.hpp"

using namespace d5;
using detail::CoreLease;

TEST_CASE("judgements at the same time have different processors, and wait for them") {
  const int before = threads();
  set_threads(1);
  const auto& allowed = detail::machine().allowed;
  std::atomic<int> now = 0, most = 0, twice = 0;
  std::vector<std::atomic<int>> users(std::size_t(*std::ranges::max_element(allowed)) + 1);
  std::vector<std::thread> judges;
  for (int i = 0; i < 6; ++i) {
    judges.emplace_back([&] {
      const CoreLease lease(1, {});
      most = std::max<int>(most, ++now);
      for (const int one : lease.own()) twice += users[std::size_t(one)]++ > 0 ? 1 : 0;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      for (const int one : lease.own()) --users[std::size_t(one)];
      --now;
    });
  }
  for (auto& judge : judges) judge.join();
  set_threads(before);
  CHECK(twice == 0);
  CHECK(most <= std::max<int>(1, int(allowed.size()) / 2));
}

TEST_CASE("a judge with one thread is bound beside its process, and is free afterwards") {
  cpu_set_t before, within, after;
  const auto mask = [](cpu_set_t& set) { return ::sched_getaffinity(0, sizeof set, &set); };
  if (detail::machine().allowed.size() < 2) return;
  const int count = threads();
  set_threads(1);
  REQUIRE(mask(before) == 0);
  {
    const CoreLease lease(1, {});
    REQUIRE(mask(within) == 0);
    CHECK(CPU_COUNT(&within) == 1);
    REQUIRE(lease.own().size() == 1);
    CHECK_FALSE(CPU_ISSET(std::size_t(lease.own().front()), &within));
  }
  set_threads(count);
  REQUIRE(mask(after) == 0);
  CHECK(CPU_EQUAL(&before, &after));
}

TEST_CASE("a judge that waits for processors ends when it is interrupted") {
  const CoreLease all(int(detail::machine().allowed.size()), {});
  CHECK(all.words().ends_with("shared with the judge"));
  const Interrupt soon{.deadline = now_seconds() + 0.05};
  CHECK_THROWS_AS(CoreLease(1, soon), Interrupted);
}

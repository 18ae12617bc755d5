// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

#include <catch2/catch.hpp>
#include <mutex>
#include <set>
#include <thread>

#include "core/machine/machine.hpp"
#include "core/machine/pinning.hpp"
#include "d5/core/machine/threads.hpp"

using namespace d5;

namespace {

int allowed_here() {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  return CPU_COUNT(&set);
}

}  // namespace

TEST_CASE("numbers are written as ranges") {
  CHECK(detail::to_ranges({}) == "");
  CHECK(detail::to_ranges({3}) == "3");
  CHECK(detail::to_ranges({1, 0}) == "0-1");
  CHECK(detail::to_ranges({0, 2, 4, 5, 6, 7}) == "0,2,4-7");
}

TEST_CASE("computing threads are bound to one core each, threads made later to the same set") {
  const int hardware = int(detail::machine().allowed.size());
  CHECK(pinning() == "none");
  const int count = std::min(hardware, 2);
  set_threads(count);
  REQUIRE(pin_threads().starts_with("cores "));
  CHECK(pinning().starts_with("cores "));
  std::mutex mutex;
  std::set<int> used;
  parallel_for(count, 1, [&](std::int64_t begin, std::int64_t) {
    const std::lock_guard lock(mutex);
    if (begin > 0) used.insert(allowed_here());
  });
  CHECK((used.empty() || *used.begin() == 1 || allowed_here() == count));
  int later = 0;
  std::thread([&] { later = allowed_here(); }).join();
  CHECK(later == count);
  set_threads(1);
  CHECK(allowed_here() == 1);
  CHECK(pinning() == "cores " + std::to_string(detail::machine().allowed.at(0)));
}

TEST_CASE("the thread that pinned comes back to its own core, and stays free to leave it") {
  const auto& allowed = detail::machine().allowed;
  if (allowed.size() < 2) return;
  set_threads(2);
  REQUIRE(pin_threads().starts_with("cores "));
  const auto go_to = [](int core) {
    cpu_set_t before, set;
    sched_getaffinity(0, sizeof before, &before);
    CPU_ZERO(&set);
    CPU_SET(std::size_t(core), &set);
    sched_setaffinity(0, sizeof set, &set);
    const int reached = sched_getcpu();
    sched_setaffinity(0, sizeof before, &before);
    return reached;
  };
  for (const int core : {allowed[1], allowed[0]}) {
    CHECK(go_to(core) == core);
    detail::return_to_own_core();
    CHECK(sched_getcpu() == allowed[0]);
    CHECK(allowed_here() == 2);
  }
}

TEST_CASE("more threads than cores are left unbound, and that is said") {
  const int hardware = int(detail::machine().allowed.size());
  set_threads(1);
  CHECK(pin_threads(hardware).starts_with("none: 1 threads from place"));
  CHECK(allowed_here() == hardware);
  set_threads(hardware);
  CHECK(pin_threads().starts_with("cores "));
}

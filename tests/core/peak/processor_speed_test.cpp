// SPDX-License-Identifier: Apache-2.0
#include "core/peak/processor_speed.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <vector>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/machine/threads.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

/// The first that is one: beside other work a thread may come too late for a while.
double some_speed() {
  constexpr double kMost = 30;
  const double end = now_seconds() + kMost;
  for (;;) {
    const double speed = detail::processor_speed();
    if (speed > 0 || now_seconds() > end) return speed;
  }
}

}  // namespace

TEST_CASE("all threads are asked at once, and none from within a loop") {
  for (const int count : {1, 2}) {
    set_threads(count);
    CHECK(some_speed() > 1e8);
    std::vector<double> within(2, -1);
    parallel_for(2, 1, [&](std::int64_t begin, std::int64_t end) {
      for (; begin < end; ++begin) within[std::size_t(begin)] = detail::processor_speed();
    });
    if (count == 2) CHECK(within == std::vector<double>{0, 0});
  }
  set_threads(1);
}

TEST_CASE("the best speed is kept by the number of threads") {
  const testing::TemporaryFolder folder;
  setenv("D5_CACHE_DIR", folder.path().c_str(), 1);
  CHECK(detail::best_processor_speed(3) == 0);
  detail::keep_processor_speed(3, 2e9);
  detail::keep_processor_speed(3, 1e9);
  detail::keep_processor_speed(5, 1.5e9);
  CHECK(detail::best_processor_speed(3) == 2e9);
  CHECK(detail::best_processor_speed(5) == 1.5e9);
  unsetenv("D5_CACHE_DIR");
}

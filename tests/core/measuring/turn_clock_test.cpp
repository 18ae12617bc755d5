// SPDX-License-Identifier: Apache-2.0
#include "core/measuring/turn_clock.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <utility>
#include <vector>

using namespace d5;

namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

/// The number of runs, if the n-th one takes `seconds[n]`, and later ones the last of these.
std::size_t runs_of(const std::vector<double>& seconds, double shortest) {
  double now = 100;
  std::size_t runs = 0;
  bool waited = false;
  const TurnClock clock{[&] { return now; },
                        [&] {
                          waited = runs == 0;
                          now += 1;  // counts as no part of the 40 ms
                        }};
  clock.settle(shortest, [&] {
    const double took = seconds[std::min(runs, seconds.size() - 1)];
    ++runs;
    now += took;
    return took;
  });
  CHECK(waited);
  return runs;
}

}  // namespace

TEST_CASE("what is made ready for its turn runs until it is as fast as it was") {
  CHECK(runs_of({0.005}, 0.005) == 1);
  CHECK(runs_of({0.0054}, 0.005) == 1);
  CHECK(runs_of({0.010, 0.010, 0.005}, 0.005) == 3);
}

TEST_CASE("it runs for 40 ms at most, which one long run may be") {
  CHECK(runs_of({0.010}, 0.005) == 4);
  CHECK(runs_of({0.5}, 0.1) == 1);
}

TEST_CASE("it runs for 40 ms where nothing is known, and not at all where runs are long") {
  CHECK(runs_of({0.010}, kUnknown) == 4);
  CHECK(runs_of({3}, 3) == 0);
}

TEST_CASE("short runs give several samples a turn, long ones a single one") {
  const auto turns = [](int samples, double seconds) {
    const Turns found = turns_for(samples, seconds);
    return std::pair(found.rounds, found.samples);
  };
  CHECK(turns(15, 1e-6) == std::pair(3, 5));
  CHECK(turns(21, 1e-6) == std::pair(5, 5));
  CHECK(turns(15, 0.004) == std::pair(8, 2));
  CHECK(turns(15, 0.02) == std::pair(15, 1));
}

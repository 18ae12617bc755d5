// SPDX-License-Identifier: Apache-2.0
// Measurements that end early.
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "tests/core/subjects.hpp"

using namespace d5;
using testing::subject;
using testing::wait;

TEST_CASE("an interrupt keeps what was measured, and says so") {
  std::stop_source stop;
  int calls = 0;
  const auto results = measure({subject("s",
                                        [&] {
                                          wait(1e-4);
                                          if (++calls == 20) stop.request_stop();
                                        })},
                               {"time"}, {.interrupt = {.token = stop.get_token()}});
  CHECK(results.at(0).samples.size() > 5);
  CHECK(results.at(0).samples.size() < 20);
  CHECK(results.at(0).status == Status::mistrusted);
  CHECK_THAT(results.at(0).reason, Catch::StartsWith("interrupted"));
}

TEST_CASE("an interrupt before the first sample leaves skipped records") {
  std::stop_source stop;
  stop.request_stop();
  int calls = 0;
  const auto results = measure({subject("a", [&] { ++calls; }), subject("b", [&] { ++calls; })},
                               {"time"}, {.interrupt = {.token = stop.get_token()}});
  REQUIRE(results.size() == 2);
  CHECK(results[1].status == Status::skipped);
  CHECK(results[1].reason == "interrupted");
  CHECK(calls == 0);
}

TEST_CASE("a deadline ends a measurement, whatever it had still to do") {
  const double begin = now_seconds();
  const auto results = measure({subject("s", [] { wait(0.01); })}, {"time"},
                               {.samples = 1000, .interrupt = {.deadline = begin + 0.2}});
  CHECK(now_seconds() - begin < 0.7);
  CHECK(results.at(0).status == Status::mistrusted);
  CHECK_THAT(results.at(0).reason, Catch::Contains("deadline"));
}

TEST_CASE("a subject that was interrupted in its middle is nobody's failure") {
  int calls = 0;
  std::stop_source stop;
  const auto results =
      measure({subject("s",
                       [&] {
                         if (++calls < 12) return;
                         stop.request_stop();
                         throw Interrupted("a network, step 3: interrupted");
                       })},
              {"time"}, {.seconds_per_sample = 0, .interrupt = {.token = stop.get_token()}});
  CHECK(results.at(0).samples.size() == 7);  // 3 warm-ups, 1 calibration, and the one that was cut
  CHECK(results.at(0).status == Status::mistrusted);
}

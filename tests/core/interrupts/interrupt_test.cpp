// SPDX-License-Identifier: Apache-2.0
#include "d5/core/interrupts/interrupt.hpp"

#include <catch2/catch.hpp>

using d5::Interrupt;

TEST_CASE("an interrupt is possible where it was given anything, and due when that says so") {
  CHECK_FALSE(Interrupt{}.possible());
  CHECK_FALSE(Interrupt{}.due());

  std::stop_source stop;
  const Interrupt by_token{.token = stop.get_token()};
  CHECK(by_token.possible());
  CHECK_FALSE(by_token.due());
  stop.request_stop();
  CHECK(by_token.due());
  CHECK(by_token.reason() == "interrupted");

  const Interrupt by_deadline{.deadline = 0};
  CHECK(by_deadline.due());
  CHECK(by_deadline.reason() == "interrupted: the deadline passed");
}

TEST_CASE("an interrupt calls the function that it was given, each time") {
  int asked = 0;
  const Interrupt interrupt{.wished = [&] { return ++asked >= 3; }};
  CHECK(interrupt.possible());
  CHECK_FALSE(interrupt.due());
  CHECK_NOTHROW(interrupt.check("work"));
  CHECK_THROWS_AS(interrupt.check("work"), d5::Interrupted);
  CHECK(interrupt.reason() == "interrupted");
}

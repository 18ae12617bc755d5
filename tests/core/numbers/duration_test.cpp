// SPDX-License-Identifier: Apache-2.0
#include "d5/core/numbers/duration.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"

using namespace std::chrono_literals;
using d5::duration_of;
using d5::duration_seconds;
using d5::duration_words;

TEST_CASE("times are read in their units, with fractions") {
  CHECK(duration_of("50us") == 50us);
  CHECK(duration_of("1.5 ms") == 1500us);
  CHECK(duration_of("201 µs") == 201us);  // as tables of d5 write it
  CHECK(duration_of("201 μs") == 201us);
  CHECK(duration_of("10s") == 10s);
  CHECK(duration_of("2min") == 120s);
  CHECK(duration_of("1h") == 3600s);
  CHECK(duration_of("0s") == 0s);
  CHECK(duration_seconds("1.5ms") == 1.5e-3);
}

TEST_CASE("a malformed time is refused with an example of one") {
  for (const char* words :
       {"", "10", "s", "-1s", "1e3s", "10 sec", "nan", "inf s", "1s2ms", "99999999999h", "0x1s"}) {
    INFO(words);
    CHECK_THROWS_WITH(duration_of(words), Catch::Contains("50us"));
    CHECK_THROWS_AS(duration_of(words), d5::ValueError);
  }
}

TEST_CASE("a time is written in the largest unit that divides it, and read back") {
  CHECK(duration_words(50us) == "50us");
  CHECK(duration_words(90s) == "90s");
  CHECK(duration_words(1500us) == "1500us");
  CHECK(duration_words(0s) == "0s");
  for (const auto time : {1ns, 1234567ns, 3600000000000ns}) {
    CHECK(duration_of(duration_words(time)) == time);
  }
}

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/registry.hpp"

#include <catch2/catch.hpp>

using namespace d5;

TEST_CASE("a registry finds what was added and refuses a duplicate") {
  Registry<int> numbers("number");
  numbers.add("one", 1);
  CHECK(numbers.at("one") == 1);
  CHECK(numbers.find("two") == nullptr);
  CHECK_THROWS_AS(numbers.add("one", 2), ValueError);
  CHECK(numbers.at("one") == 1);
}

TEST_CASE("an unknown name is answered with the nearest and with what is known") {
  Registry<int> optimizers("optimizer");
  optimizers.add("momentum", 1);
  optimizers.add("adam", 2);
  CHECK_THROWS_WITH(
      optimizers.at("momentun"),
      "optimizer 'momentun' is unknown; did you mean momentum? known: adam, momentum");
  CHECK_THROWS_AS(optimizers.at("momentun"), NotFound);
}

TEST_CASE("a name with control characters is escaped in the message") {
  Registry<int> things("thing");
  CHECK_THROWS_WITH(things.at("a\x1b[2J"), "thing 'a\\x1b[2J' is unknown; none is known");
}

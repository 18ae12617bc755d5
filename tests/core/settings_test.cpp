// SPDX-License-Identifier: Apache-2.0
#include "d5/core/settings.hpp"

#include <catch2/catch.hpp>

#include "d5/core/error.hpp"

using namespace d5;

TEST_CASE("options are read by type, with fallbacks") {
  const Settings settings(
      "optimizer momentum",
      {{"rate", "0.01"}, {"steps", "-3"}, {"nesterov", "yes"}, {"name", "a b"}});
  CHECK(settings.number("rate", 1) == 0.01);
  CHECK(settings.number("decay", 0.5) == 0.5);
  CHECK(settings.integer("steps", 1) == -3);
  CHECK(settings.flag("nesterov", false));
  CHECK(settings.text("name", "") == "a b");
  CHECK(settings.text("other", "fallback") == "fallback");
  CHECK(settings.required_text("name") == "a b");
  CHECK_NOTHROW(settings.expect_all_read());
}

TEST_CASE("text of the wrong type is refused as a whole") {
  const Settings settings("trainer", {{"rate", "0.1x"},
                                      {"steps", "1.5"},
                                      {"huge", "99999999999999999999"},
                                      {"flag", "maybe"},
                                      {"empty", ""}});
  CHECK_THROWS_WITH(settings.number("rate", 0),
                    "trainer: option rate is '0.1x', expected a number");
  CHECK_THROWS_AS(settings.integer("steps", 0), ValueError);
  CHECK_THROWS_AS(settings.integer("huge", 0), ValueError);
  CHECK_THROWS_AS(settings.flag("flag", false), ValueError);
  CHECK_THROWS_AS(settings.number("empty", 0), ValueError);
}

TEST_CASE("an option that nobody asked for is an error that names the nearest") {
  const Settings settings("optimizer adam", {{"learning_rat", "0.1"}});
  CHECK(settings.number("learning_rate", 0.001) == 0.001);
  CHECK_THROWS_WITH(settings.expect_all_read(), Catch::Contains("did you mean learning_rate?"));
  CHECK_THROWS_AS(settings.expect_all_read(), NotFound);
}

TEST_CASE("a missing required option is an error") {
  CHECK_THROWS_WITH(Settings("dataset mnist").required_text("folder"),
                    "dataset mnist: option folder is missing");
}

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/entries/settings.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"

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

TEST_CASE("numbers, flags and words are settings that read back to the same") {
  const Settings settings{{"rate", 0.1}, {"huge", 1e300},
                          {"steps", -3}, {"seed", ~std::uint64_t{0}},
                          {"on", true},  {"word", "drop"}};
  CHECK(settings.number("rate", 0) == 0.1);
  CHECK(settings.number("huge", 0) == 1e300);
  CHECK(settings.integer("steps", 0) == -3);
  CHECK(settings.natural("seed", 0) == ~std::uint64_t{0});
  CHECK(settings.flag("on", false));
  CHECK(settings.text("word", "") == "drop");
  CHECK_THROWS_AS(settings.natural("steps", 0), ValueError);
}

TEST_CASE("a setting may be taken away, and those below a name stand alone") {
  Settings settings("scheme", {{"name", "ring"}, {"sum.name", "a"}});
  settings.set("sum.b.c", 2, "recipe.yaml:4");
  CHECK(settings.take("name", "") == "ring");
  CHECK(settings.take("name", "tree") == "tree");
  CHECK_FALSE(settings.has("name"));
  const Settings below = settings.below("sum");
  CHECK(below.values().size() == 2);
  CHECK(below.text("b.c", "") == "2");
  CHECK(below.place_of("name") == "scheme: sum");
  CHECK(below.place_of("b.c") == "recipe.yaml:4: scheme: sum");
}

TEST_CASE("settings get an owner once") {
  CHECK(Settings{{"a", 1}}.owned_by("sampler shuffle").place_of("a") == "sampler shuffle");
  CHECK(Settings("mine").owned_by("sampler shuffle").place_of("a") == "mine");
}

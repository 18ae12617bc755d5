// SPDX-License-Identifier: Apache-2.0
#include "d5/core/entries/entry.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "d5/core/entries/registry.hpp"

using namespace d5;

namespace {

enum class End { keep, drop };

struct CounterOptions {
  double rate = 0.5;
  std::int64_t size = 64;
  std::uint64_t seed = 0;
  bool loud = false;
  std::string label = "label";
  End end = End::keep;
  EntryChoice inner{"plain"};

  void declare(OptionList& options) {
    options.add("rate", rate, "share that counts", {.least = 0, .below = 1});
    options.add("size", size, "how many", {.least = 1});
    options.add("seed", seed, "seed of the numbers");
    options.add("loud", loud, "says so");
    options.add("label", label, "its name");
    options.add("end", end, "what happens last", {"keep", "drop"});
    options.add("inner", inner, "what it wraps", "counter");
  }
};

struct Counter {
  using Options = CounterOptions;
  Counter(int begin, const Options& given) : begin(begin), options(given) {}
  int begin;
  Options options;
};

using CounterEntry = Entry<std::shared_ptr<Counter>(int)>;

Registry<CounterEntry>& counters() {
  static Registry<CounterEntry> registry("counter", [](Registry<CounterEntry>& filled) {
    filled.add("whole", CounterEntry::of<Counter>("counts all"));
    filled.add("plain", {"has no options", [](int begin) {
                           return std::make_shared<Counter>(begin, CounterOptions{});
                         }});
    filled.add("twice", CounterEntry::with<CounterOptions>(
                            "counts from twice as far", [](int begin, const CounterOptions& given) {
                              return std::make_shared<Counter>(2 * begin, given);
                            }));
  });
  return registry;
}

const CounterEntry& whole() { return counters().at("whole"); }

}  // namespace

TEST_CASE("an entry makes its part from what the kind needs and from settings") {
  const auto counter = whole().make(
      3,
      {{"rate", 0.25}, {"size", 7}, {"seed", 9}, {"loud", true}, {"label", "x"}, {"end", "drop"}});
  CHECK(counter->begin == 3);
  CHECK(counter->options.rate == 0.25);
  CHECK(counter->options.size == 7);
  CHECK(counter->options.seed == 9);
  CHECK(counter->options.loud);
  CHECK(counter->options.label == "x");
  CHECK(counter->options.end == End::drop);
  CHECK(counters().at("twice").make(3)->begin == 6);
}

TEST_CASE("what is not given is as the options' members say") {
  const CounterOptions options = whole().make(1)->options;
  CHECK(options.rate == 0.5);
  CHECK(options.size == 64);
  CHECK(options.end == End::keep);
  CHECK(options.inner.name == "plain");
}

TEST_CASE("an entry lists its options with type, default, range and help") {
  const auto& options = whole().options();
  REQUIRE(options.size() == 7);
  CHECK(options[0].name == "rate");
  CHECK(options[0].type == "number");
  CHECK(options[0].initial == "0.5");
  CHECK(options[0].range == ">= 0, < 1");
  CHECK(options[0].help == "share that counts");
  CHECK(options[1].type == "integer");
  CHECK(options[2].range == ">= 0");
  CHECK(options[3].initial == "false");
  CHECK(options[4].initial == "label");
  CHECK(options[5].type == "keep|drop");
  CHECK(options[5].initial == "keep");
  CHECK(options[6].type == "counter");
  CHECK(options[6].initial == "plain");
  CHECK(counters().at("plain").options().empty());
  CHECK(whole().has_option("rate"));
  CHECK_FALSE(counters().at("plain").has_option("rate"));
}

TEST_CASE("a setting that is no option is an error of the entry, whatever the factory reads") {
  CHECK_THROWS_AS(whole().make(1, {{"rat", 0.1}}), NotFound);
  CHECK_THROWS_WITH(
      whole().make(1, {{"rat", 0.1}}),
      Catch::StartsWith("counter whole: option 'rat'") && Catch::Contains("did you mean rate?"));
  CHECK_THROWS_AS(counters().at("plain").make(1, {{"rate", 0.1}}), NotFound);
  CHECK_THROWS_WITH(whole().make(1, Settings("r.yaml:3: counter", {{"sise", "1"}})),
                    Catch::StartsWith("r.yaml:3: counter: option 'sise'"));
}

TEST_CASE("a value out of its range or type is an error that names option, value and range") {
  CHECK_THROWS_WITH(whole().make(1, {{"rate", 1}}),
                    "counter whole: option rate is '1', expected a number >= 0, < 1");
  CHECK_THROWS_AS(whole().make(1, {{"rate", -0.1}}), ValueError);
  CHECK_THROWS_AS(whole().make(1, {{"rate", std::numeric_limits<double>::quiet_NaN()}}),
                  ValueError);
  CHECK_THROWS_AS(whole().make(1, {{"size", 0}}), ValueError);
  CHECK_THROWS_AS(whole().make(1, {{"size", 1.5}}), ValueError);
  CHECK_THROWS_AS(whole().make(1, {{"seed", -1}}), ValueError);
  CHECK_THROWS_AS(whole().make(1, {{"loud", "maybe"}}), ValueError);
  CHECK_THROWS_WITH(whole().make(1, {{"end", "kep"}}),
                    "counter whole: option end is 'kep', expected keep or drop");
}

TEST_CASE("an option may choose another entry, with settings that this one checks") {
  const auto by_word = whole().make(1, {{"inner", "whole"}});
  CHECK(by_word->options.inner.name == "whole");
  CHECK(by_word->options.inner.settings.values().empty());

  const auto with_settings = whole().make(1, {{"inner.name", "whole"}, {"inner.size", 5}});
  const EntryChoice& inner = with_settings->options.inner;
  CHECK(inner.name == "whole");
  CHECK(counters().at(inner.name).make(1, inner.settings)->options.size == 5);

  const auto misspelt = whole().make(1, {{"inner.name", "whole"}, {"inner.sise", 5}});
  CHECK_THROWS_WITH(counters().at("whole").make(1, misspelt->options.inner.settings),
                    Catch::StartsWith("counter whole: inner: option 'sise'"));
}

TEST_CASE("options that are known at run time alone are listed, read and checked as all are") {
  struct Named {
    std::vector<std::pair<std::string, double>> all;
    void declare(OptionList& options) {
      for (auto& [name, value] : all) options.add(name, value, "value of " + name);
    }
  };
  const auto sum_of = [](int begin, const Named& own) {
    CounterOptions options;
    options.rate = 0;
    for (const auto& [name, value] : own.all) options.rate += value;
    return std::make_shared<Counter>(begin, options);
  };
  const auto entry = CounterEntry::with<Named>("sums", sum_of, {{{"a", 1}, {"b", 2}}});
  REQUIRE(entry.options().size() == 2);
  CHECK(entry.options()[1].name == "b");
  CHECK(entry.options()[1].initial == "2");
  CHECK(entry.make(1)->options.rate == 3);
  CHECK(entry.make(1, {{"b", 40}})->options.rate == 41);
  CHECK(entry.make(1)->options.rate == 3);
  CHECK_THROWS_AS(entry.make(1, {{"c", 1}}), NotFound);
}

TEST_CASE("options that parts share are read without those of the part") {
  const auto shared = read_shared_options<CounterOptions>({{"size", 3}, {"colour", "red"}});
  CHECK(shared.size == 3);
  CHECK_THROWS_AS(read_options<CounterOptions>({{"size", 3}, {"colour", "red"}}), NotFound);
}

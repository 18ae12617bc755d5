// SPDX-License-Identifier: Apache-2.0
#include "d5/core/results/condition.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/results/conditions_json.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/results/results.hpp"

using namespace d5;
using Catch::Contains;

namespace {

Measurement with(const Conditions& conditions) {
  return {.subject = "s",
          .metric = "time",
          .unit = "s",
          .samples = std::vector<double>(6, 1.0),
          .conditions = conditions};
}

Conditions read_again(const Conditions& conditions) {
  return results_from_json(to_json(Results{{}, {with(conditions)}}), "r")
      .measurements[0]
      .conditions;
}

/// The conditions that a file has in place of good ones.
std::string with_conditions(const std::string& json, int schema = Results::kSchema) {
  auto file = nlohmann::json::parse(to_json(Results{{}, {with({})}}));
  file["schema"] = schema;
  file["measurements"][0]["conditions"] = nlohmann::json::parse(json);
  return file.dump();
}

}  // namespace

TEST_CASE("a condition keeps its type, its unit and its role through a file, to the bit") {
  const Conditions conditions = {
      {"pass", identity("forward")},      {"batch", identity(32)},
      {"digits", identity("32")},         {"memory limit", identity(std::int64_t{1} << 26, "byte")},
      {"learning_rate", setting(0.1)},    {"whole real", setting(2.0)},
      {"seconds", finding(1.0 / 3, "s")}, {"endless", finding(HUGE_VAL)},
      {"the word", finding("NaN")},       {"calls", aside(std::uint64_t{1} << 40)}};
  CHECK(read_again(conditions) == conditions);
  CHECK(std::isnan(read_again({{"x", finding(std::nan(""))}}).at("x").number().value()));
}

TEST_CASE("texts for people, and texts that lose no digit") {
  CHECK(identity("forward").text() == "forward");
  CHECK(identity(32).text() == "32");
  CHECK(identity(67108864, "byte").text() == "64MiB");
  CHECK(identity(67108864, "byte").exact() == "67108864 byte");
  CHECK(finding(0.25, "s").text() == "250 ms");
  CHECK(finding(0.25, "s").exact() == "0.25 s");
  CHECK(finding(1.0 / 3).text() == "0.333333");
  CHECK(finding(1.0 / 3).exact() == "0.3333333333333333");
  CHECK(identity(32).number() == 32.0);
  CHECK_FALSE(identity("32").number());
}

TEST_CASE("words of an option are a number where they are one") {
  CHECK(std::get<std::int64_t>(typed_value("32")) == 32);
  CHECK(std::get<std::int64_t>(typed_value("-1")) == -1);
  CHECK(std::get<double>(typed_value("1e-3")) == 1e-3);
  for (const char* words : {"", "ring", "32 ranks", "1.2.3", "nan", "inf", "-", "64MiB"}) {
    CHECK(std::get<std::string>(typed_value(words)) == words);
  }
}

TEST_CASE("conditions of schema 2 get the types and the roles of today") {
  const std::string file = with_conditions(
      R"({"pass": "forward", "batch": "8", "seed": "7", "judge": "float64", "warmup": "3",
          "all_reduce.calls": "12", "memory limit": "64MiB", "a user's own": "x"})",
      2);
  const Conditions found = results_from_json(file, "r").measurements[0].conditions;
  CHECK(found == Conditions{{"pass", identity("forward")},
                            {"batch", identity(8)},
                            {"seed", setting(7)},
                            {"judge", finding("float64")},
                            {"warmup", aside(3)},
                            {"all_reduce.calls", aside(12)},
                            {"memory limit", identity(67108864, "byte")},
                            {"a user's own", identity("x")}});
}

TEST_CASE("conditions that no d5 wrote are refused, with their place") {
  const auto complaint = [](const std::string& json) -> std::string {
    try {
      (void)results_from_json(with_conditions(json), "r");
    } catch (const FormatError& error) {
      return error.what();
    }
    return "";
  };
  CHECK_THAT(complaint("[]"), Contains("measurements[0].conditions is not an object"));
  CHECK_THAT(complaint(R"({"role": {"a": 1}})"),
             Contains("conditions.role") && Contains("identity, setting, finding, aside"));
  CHECK_THAT(complaint(R"({"identity": 1})"), Contains("conditions.identity"));
  CHECK_THAT(complaint(R"({"finding": {"a": [1]}})"), Contains("conditions.finding.a is [1]"));
  CHECK_THAT(complaint(R"({"finding": {"a": {"value": "x", "unit": "s"}}})"),
             Contains("conditions.finding.a"));
}

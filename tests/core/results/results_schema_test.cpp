// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <limits>

#include "core/results/record_words.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/files/carried_file.hpp"
#include "d5/core/results/results.hpp"
#include "tests/core/json_schema.hpp"

using namespace d5;
using nlohmann::json;

namespace {

json schema() { return json::parse(read_file(carried_file("data/results.schema.json"))); }

std::string breach(const json& results) { return testing::JsonSchema(schema()).breach(results); }

Results described_results() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Measurement time{.subject = "Gemm",
                   .metric = "time",
                   .unit = "s",
                   .quantity = Quantity::time,
                   .samples = std::vector<double>(30, 1e-3),
                   .conditions = {{"cache", identity("hot")}},
                   .artefacts = {{.name = "a", .sha256 = std::string(64, 'a')}}};
  Measurement failed = time;
  failed.samples = {kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()};
  failed.status = Status::failed;
  failed.reason = "wrong";
  failed.statistic = {.quantile = 0.999};
  return {environment(), {time, failed}};
}

}  // namespace

TEST_CASE("d5's files are valid by the schema that it carries") {
  CHECK(breach(json::parse(to_json(described_results()))) == "");
  CHECK(breach(json::parse(to_json(Results{}))) == "");
}

TEST_CASE("a line of JSON Lines is a valid measurement") {
  json one = schema();
  one["$ref"] = "#/$defs/measurement";
  for (const char* word : {"type", "required", "properties"}) one.erase(word);
  const std::string lines = to_jsonl(described_results());
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 2);
  const json first = json::parse(lines.substr(0, lines.find('\n')));
  CHECK(testing::JsonSchema(one).breach(first) == "");
  CHECK(first.at("hostname") == environment().hostname);
  CHECK(first.at("samples").size() == 30);
}

TEST_CASE("the schema knows every field and every word that d5 writes") {
  const json file = json::parse(to_json(described_results())), rules = schema();
  const auto check = [&](const json& object, const json& known) {
    for (const auto& [name, value] : object.items()) {
      INFO(name);
      CHECK(known.contains(name));
    }
  };
  const json& measurement = rules.at("$defs").at("measurement").at("properties");
  check(file, rules.at("properties"));
  check(file.at("environment"), rules.at("$defs").at("environment").at("properties"));
  check(file.at("measurements").at(0), measurement);
  CHECK(measurement.at("quantity").at("enum") == json(detail::kQuantities));
  CHECK(measurement.at("direction").at("enum") == json(detail::kDirections));
  CHECK(measurement.at("over_ranks").at("enum") == json(detail::kOverRanks));
  CHECK(measurement.at("status").at("enum") == json(detail::kStatuses));
  const json& roles = measurement.at("conditions").at("properties");
  CHECK(roles.size() == detail::kRoles.size());
  for (const std::string_view role : detail::kRoles) CHECK(roles.contains(std::string(role)));
  CHECK(rules.at("properties").at("schema").at("const") == Results::kSchema);
}

TEST_CASE("what ratios say together is valid, too, and no reader takes it for a measurement") {
  Results results;
  for (const char* subject : {"Relu 8", "Relu 64"}) {
    results.measurements.push_back({.subject = subject,
                                    .framework = "torch",
                                    .metric = "time_ratio",
                                    .unit = "1",
                                    .quantity = Quantity::ratio,
                                    .samples = std::vector<double>(30, 0.5),
                                    .conditions = {{"base", identity("reference")}}});
  }
  const json file = json::parse(to_json(results));
  CHECK(breach(file) == "");
  CHECK(schema().at("properties").contains("summary"));
  REQUIRE(file.at("summary").size() == 1);
  const json& sum = file.at("summary").at(0);
  CHECK(sum.at("subject") == "2 cases");
  CHECK(sum.at("metric") == "mean_time_ratio");
  CHECK(sum.at("statistic") == "geometric_mean");
  CHECK(sum.at("value").get<double>() == Approx(0.5));
  CHECK_FALSE(sum.contains("interval"));  // two cases are too few
  CHECK(sum.at("samples") == json({0.5, 0.5}));
  CHECK(sum.at("conditions") ==
        json({{"identity", {{"base", "reference"}}},
              {"finding", {{"faster", 2}, {"slower", 0}, {"undecided", 0}, {"mistrusted", 0}}}}));
  CHECK(results_from_json(file.dump(), "r.json").measurements.size() == 2);
  CHECK(json::parse(to_json(Results{})).contains("summary") == false);
}

TEST_CASE("the schema refuses what d5 refuses") {
  const json good = json::parse(to_json(described_results()));
  const auto with = [&](const char* place, const json& value) {
    json bad = good;
    bad[json::json_pointer(place)] = value;
    return breach(bad);
  };
  CHECK(with("/format", "x") != "");
  CHECK(with("/schema", 4) != "");
  CHECK(with("/environment/cores", -2) != "");
  CHECK(with("/measurements/0/unit", 5) != "");
  CHECK(with("/measurements/0/status", "doubtful") != "");
  CHECK(with("/measurements/0/statistic", "middle") != "");
  CHECK(with("/measurements/0/samples/0", "much") != "");
  CHECK(with("/measurements/0/conditions/cache", "hot") != "");
  CHECK(with("/measurements/0/conditions/identity/cache", json::array()) != "");
  CHECK(with("/measurements/1/reason", "") != "");
  json lacking = good;
  lacking["measurements"][0].erase("metric");
  CHECK(breach(lacking) != "");
}

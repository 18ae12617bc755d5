// SPDX-License-Identifier: Apache-2.0
#include "d5/core/results/results.hpp"
#include "d5/core/numbers/byte_count.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/results/result_comparison.hpp"
#include "tests/approved.hpp"
#include "tests/core/sample_results.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using testing::some_results;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = to_json(some_results());
  const auto place = text.find(from);
  REQUIRE(place != std::string::npos);
  return text.replace(place, from.size(), to);
}

void check_refused(const std::string& text, const std::string& message) {
  CHECK_THROWS_AS(results_from_json(text, "a.json"), FormatError);
  CHECK_THROWS_WITH(results_from_json(text, "a.json"), Catch::Contains(message));
}

}  // namespace

TEST_CASE("JSON, CSV and the table are as promised") {
  const Results results = some_results();
  check_approved("core/approved/results.json", to_json(results));
  check_approved("core/approved/results.csv", to_csv(results));
  check_approved("core/approved/results.txt", to_table(results.measurements));
}

TEST_CASE("every field that is written is documented") {
  const char* source = std::getenv("D5_SOURCE_DIR");
  REQUIRE(source);
  const std::string page = read_file(std::string(source) + "/docs/reference/file_formats.md");
  const auto json = nlohmann::json::parse(to_json(some_results()));
  const auto check = [&](const nlohmann::json& object) {
    for (const auto& [name, value] : object.items()) {
      INFO(name);
      CHECK(page.find('`' + name + '`') != std::string::npos);
    }
  };
  check(json);
  check(json.at("environment"));
  check(json.at("measurements").at(0));
  const std::string csv = to_csv(some_results());
  const std::string words = csv.substr(0, csv.find("\r\n"));
  for (std::size_t at = 0, end = 0; end != std::string::npos; at = end + 1) {
    end = words.find(',', at);
    const std::string name = words.substr(at, end - at);
    INFO(name);
    CHECK(page.find(name) != std::string::npos);
  }
}

TEST_CASE("results come back from a file as they were written, to the last bit") {
  Results before = some_results();
  before.measurements[0].samples = {
      kNan, kInfinity, -kInfinity, 0.1, -0.0, 5e-324, 1.7976931348623157e308};
  const testing::TemporaryFolder folder;
  const std::string path = folder / "results.json";
  write_results(before, path);
  const Results after = read_results(path);
  CHECK(to_json(after) == to_json(before));
  const auto& samples = after.measurements.at(0).samples;
  REQUIRE(samples.size() == 7);
  CHECK(std::isnan(samples[0]));
  CHECK(samples[1] == kInfinity);
  CHECK(samples[2] == -kInfinity);
  CHECK(samples[3] == 0.1);
  CHECK(std::signbit(samples[4]));
  CHECK(samples[5] == 5e-324);
  CHECK(samples[6] == 1.7976931348623157e308);
  CHECK(after.environment.variables == before.environment.variables);
  CHECK(after.measurements.at(1).reason == before.measurements.at(1).reason);
}

TEST_CASE("bytes that are not UTF-8 do not stop the writing") {
  Results results;
  results.measurements.push_back({.subject = "\xff", .metric = "time", .unit = "s"});
  CHECK(results_from_json(to_json(results), "a").measurements.at(0).subject == "\xef\xbf\xbd");
}

TEST_CASE("a damaged file is refused with place, given and expected") {
  check_refused("", "results 'a.json': invalid JSON at byte");
  check_refused("[]", "the file is a list, expected an object");
  check_refused(replaced("\"d5 results\"", "\"x\""), "format is another, expected \"d5 results\"");
  check_refused(replaced("\"schema\": 3", "\"schema\": 4"),
                "schema is 4, expected 1 to 3; a newer d5 may read it");
  check_refused(replaced("\"schema\": 3", "\"schema\": 0"), "schema is 0, expected 1 to 3");
  check_refused(replaced("\"schema\": 3", "\"schema\": 1.5"), "schema is the number 1.5");
  check_refused(replaced("\"statistic\": \"median\"", "\"statistic\": \"middle\""),
                "measurements[0].statistic is 'middle', expected median");
  check_refused(replaced("\"quantity\": \"time\"", "\"quantity\": \"length\""),
                "measurements[0].quantity is the text 'length', expected one of time, energy");
  check_refused(replaced("\"over_ranks\": \"maximum\"", "\"over_ranks\": 1"),
                "measurements[0].over_ranks is the number 1");
  check_refused(replaced("\"name\": \"lenet.onnx\"", "\"nam\": \"lenet.onnx\""),
                "measurements[3].artefacts[0].name is missing");
  check_refused(replaced("\"unit\": \"s\"", "\"unit\": 5"),
                "measurements[0].unit is the number 5, expected a text");
  check_refused(replaced("\"mistrusted\"", "\"doubtful\""),
                "measurements[1].status is the text 'doubtful', expected one of passed, failed");
  check_refused(replaced("[\n    1.2345e-07", "[\n    \"much\""),
                "measurements[2].samples[0] is the text 'much'");
  check_refused(replaced("\"metric\"", "\"metrik\""), "measurements[0].metric is missing");
  check_refused(replaced("\"cores\": 2", "\"cores\": -2"), "environment.cores is the number -2");
  check_refused(replaced("\"reason\": \"a sample", "\"reason\": \"\", \"x\": \"a"),
                "measurements[1].reason is empty, expected a reason for the status mistrusted");
  check_refused(replaced("1.2345e-07", "1e999"), "too large");
  check_refused(std::string(100000, '['), "deeper than 100 levels");
  CHECK_THROWS_AS(read_results("/nowhere/a.json"), IoError);
}

TEST_CASE("every truncation of a file is refused, none crashes") {
  const std::string text = to_json(some_results());
  for (std::size_t size = 0; size + 2 < text.size(); size += 7) {
    CHECK_THROWS_AS(results_from_json(text.substr(0, size), "a.json"), FormatError);
  }
}

TEST_CASE("unknown fields are left alone, so that a later d5 may add some") {
  CHECK(results_from_json(replaced("\"schema\": 3", "\"schema\": 3, \"new\": {}"), "a")
            .measurements.size() == 6);
}

TEST_CASE("schema 1 is read, its words become those of today") {
  const auto record = [](const std::string& metric, const std::string& unit,
                         const std::string& conditions) {
    return R"({"subject": "s", "metric": ")" + metric + R"(", "unit": ")" + unit +
           R"(", "direction": "lower_is_better", "status": "passed", "samples": [1, 2, 3],
               "conditions": {)" +
           conditions + "}}";
  };
  const auto results = results_from_json(
      R"({"format": "d5 results", "schema": 1, "environment": {}, "measurements": [)" +
          record("time", "s", "") + "," + record("relative error", "1", R"("output": "0")") + "," +
          record("flop rate", "flop/s", "") + "," + record("time ratio to torch", "1", "") + "]}",
      "old.json");
  const auto& m = results.measurements;
  REQUIRE(m.size() == 4);
  CHECK(m[0].quantity == Quantity::time);
  CHECK(estimate(m[0]).value == 2);
  CHECK(m[1].metric == "error");
  CHECK(m[1].quantity == Quantity::error);
  CHECK(m[1].conditions.at("tensor") == "output 0");
  CHECK(m[2].metric == "flop_rate");
  CHECK(m[2].quantity == Quantity::rate);
  CHECK(m[3].metric == "time_ratio");
  CHECK(m[3].conditions.at("base") == "torch");
}

TEST_CASE("a file of schema 2 compares with the same of today, record by record") {
  const char* source = std::getenv("D5_SOURCE_DIR");
  if (!source) FAIL("set D5_SOURCE_DIR to the folder of d5's sources");
  const std::string path = std::string(source) + "/tests/core/approved/results_schema2.json";
  const Results old = read_results(path), today = some_results();
  CHECK(differences(old, today).empty());
  for (const auto& [a, b] : {std::pair(&old, &today), std::pair(&today, &old)}) {
    CHECK(missing_results(*a, *b).empty());
    const auto pairs = compare_results(*a, *b);
    CHECK(pairs.size() == 5);  // one of six failed
    for (const auto& pair : pairs) CHECK(pair.ratio == 1);
  }
}

TEST_CASE("the value in a file is the statistic of the samples, with its interval") {
  Results results = some_results();
  results.measurements.resize(1);
  const auto value_of = [&](Statistic statistic) {
    results.measurements[0].statistic = statistic;
    return nlohmann::json::parse(to_json(results)).at("measurements").at(0);
  };
  const auto& samples = results.measurements[0].samples;
  CHECK(value_of({}).at("value") == summarise(samples).median);
  CHECK(value_of({}).at("interval").at(0) == summarise(samples).median_interval.low);
  CHECK(value_of({.of = Statistic::Of::last}).at("value") == samples.back());
  CHECK_FALSE(value_of({.of = Statistic::Of::last}).contains("interval"));
}

TEST_CASE("an unwritable place is an error") {
  CHECK_THROWS_AS(write_results({}, "/nowhere/a.json"), IoError);
}

TEST_CASE("the exit status tells whether anything failed") {
  const auto status_of = [](Status status) { return exit_status({{.status = status}}); };
  CHECK(exit_status({}) == 0);
  CHECK(status_of(Status::passed) == 0);
  CHECK(status_of(Status::mistrusted) == 0);
  CHECK(status_of(Status::skipped) == 0);
  CHECK(status_of(Status::unsupported) == 1);
  CHECK(exit_status({{.status = Status::unsupported}}, IfUnsupported::allow) == 0);
  CHECK(status_of(Status::failed) == 1);
}

TEST_CASE("numbers for people have three digits and a prefix") {
  CHECK(with_prefix(1.25e-3, "s") == "1.25 ms");
  CHECK(with_prefix(3.4e6, "byte") == "3.40 MB");
  CHECK(with_prefix(1.21e10, "flop/s") == "12.1 Gflop/s");
  CHECK(with_prefix(9.9996e-4, "s") == "1.00 ms");
  CHECK(with_prefix(2.5e-6, "s") == "2.50 µs");
  CHECK(with_prefix(90000, "s") == "90000 s");
  CHECK(with_prefix(0, "s") == "0 s");
  CHECK(with_prefix(0.5, "byte") == "0.500 B");
  CHECK(with_prefix(2e9, "byte/s") == "2.00 GB/s");
  CHECK(with_prefix(0.0125, "1") == "0.0125");
  CHECK(with_prefix(1.3e-7, "1") == "1.30e-07");
  CHECK(with_prefix(-1.5e-3, "s") == "-1.50 ms");
  CHECK(with_prefix(kNan, "s") == "nan s");
  CHECK(with_prefix(kInfinity, "1") == "inf");
}

TEST_CASE("sizes of memories have one unit, that of powers of two") {
  CHECK(memory_size(32768) == "32 KiB");
  CHECK(memory_size(1.5 * (1 << 20)) == "1.5 MiB");
  CHECK(memory_size(8e9) == "7.451 GiB");
  CHECK(memory_size(0) == "-");
}

TEST_CASE("a comparison is printed on one line, with the digits that it supports") {
  CHECK(
      to_string(Comparison{1.0312, {1.0198, 1.0451}, 3.2e-5, 30}, "torch", "reference") ==
      "torch / reference = 1.031 [1.020, 1.045], rank test p = 3.2e-05, 30 pairs: torch is higher");
  CHECK(to_string(Comparison{0.5, {0.4, 1.2}, 0.3, 30}, "a", "b") ==
        "a / b = 0.50 [0.40, 1.20], rank test p = 0.30, 30 pairs: no difference found");
  CHECK(to_string(Comparison{0.5, {kNan, kNan}, 0.3, 3}, "a", "b") ==
        "a / b = 0.500, rank test p = 0.30, 3 pairs: too few for an interval");
}

TEST_CASE("colour comes only when it is asked for, and never into a file") {
  const auto measurements = some_results().measurements;
  CHECK(to_table(measurements).find('\x1b') == std::string::npos);
  CHECK(to_table(measurements, {.colour = Colour::always}).find("\x1b[31mfailed [2]\x1b[0m") !=
        std::string::npos);
  FILE* file = std::tmpfile();
  CHECK(screen_of(fileno(file)).colour == Colour::never);
  std::fclose(file);
}

TEST_CASE("rows that differ in their tensor name it, however long the name is") {
  Measurement first = error_record();
  first.samples = {1e-7};
  first.conditions["tensor"] = identity("gradient of stage4.block1.shortcut.norm.scale");
  Measurement second = first;
  second.conditions["tensor"] = identity("output y");
  for (const auto& text : {to_table({first, second}), to_markdown({first, second})}) {
    CHECK_THAT(text,
               Catch::Contains(first.conditions["tensor"].text()) && Catch::Contains("output y"));
  }
}

TEST_CASE("a table of nothing says so") {
  CHECK(to_table(std::vector<Measurement>{}) == "nothing was measured\n");
}

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/report/compared_files.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using Catch::Contains;
using Catch::StartsWith;

namespace {

/// 40 samples around `center`, within 1%.
Measurement near(double center, const std::string& metric, const std::string& subject = "Relu 8") {
  Measurement record{.subject = subject,
                     .level = "operator",
                     .framework = "reference",
                     .metric = metric,
                     .unit = "s",
                     .quantity = Quantity::time};
  for (int i = 0; i < 40; ++i) {
    record.samples.push_back(center * (1 + 0.01 * ((i * 7) % 40 - 20) / 20));
  }
  return record;
}

Environment at(const std::string& host) {
  Environment environment;
  environment.hostname = host;
  return environment;
}

struct TwoFiles {
  TwoFiles() {
    write_results({at("one"), {near(1, "time"), near(1, "energy"), near(1, "time", "Abs 8")}}, a);
    write_results({at("two"), {near(2, "time"), near(1, "energy")}}, b);
  }
  testing::TemporaryFolder folder;
  std::string a = folder / "a.json", b = folder / "b.json";
};

}  // namespace

TEST_CASE("two files are held against each other, with what to know before the numbers") {
  const TwoFiles files;
  const ComparedFiles both = compare_files(files.a, files.b);
  CHECK(both.report.pairs.size() == 2);
  CHECK(both.findings.empty());
  CHECK(both.holds());  // no gate
  const auto notes = notes_of(both);
  REQUIRE(notes.size() == 2);
  CHECK(notes[0] == "A and B differ in machine: one and two");
  CHECK_THAT(notes[1], StartsWith("1 of A's records is not compared: Abs 8 reference time: "));
  CHECK_THAT(to_text(both, Format::table), Contains("worse"));
  CHECK_THAT(to_text(both, Format::html), StartsWith("<!") && Contains("a.json"));
}

TEST_CASE("a subject with several rows stands once, above them") {
  const TwoFiles files;
  const std::string text = to_text(compare_files(files.a, files.b), Format::table);
  CHECK_THAT(text, Contains("\nRelu 8\nreference"));
  CHECK(text.find("Relu 8") == text.rfind("Relu 8"));
  CHECK_THAT(to_text(compare_files(files.a, files.b, {.metrics = {"time"}}), Format::table),
             Contains("Relu 8   reference"));  // a row alone
}

TEST_CASE("a gate finds what is worse, among the metrics that are chosen") {
  const TwoFiles files;
  CHECK_FALSE(compare_files(files.a, files.b, {.fail_above = 1.05}).holds());
  const auto energy = compare_files(files.a, files.b, {.metrics = {"energy"}, .fail_above = 1.05});
  CHECK(energy.report.pairs.size() == 1);
  CHECK(energy.holds());
}

TEST_CASE("files that share nothing, and metrics that neither has, are refused") {
  const TwoFiles files;
  write_results({{}, {near(1, "time", "Exp 8")}}, files.b);
  CHECK_THROWS_AS(compare_files(files.a, files.b), ValueError);
  CHECK_THROWS_WITH(compare_files(files.a, files.b, {.metrics = {"tme"}}),
                    Contains("did you mean time?"));
  CHECK_THROWS_AS(compare_files(files.a, files.folder / "none.json"), IoError);
}

// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/launching/scaling_study.hpp"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/core/results/results.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "tests/core/svg_texts.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

/// A machine on which n ranks have sqrt(n) times one rank's throughput, with a different speed for
/// each seed.
std::vector<Measurement> square_root(const ScalingPoint& point, std::uint64_t seed) {
  return {{.subject = "made up",
           .metric = "throughput",
           .unit = "sample/s",
           .direction = Direction::higher_is_better,
           .samples = {100 * double(seed) * std::sqrt(point.ranks)}}};
}

const Measurement& record(const std::vector<Measurement>& records, const std::string& metric,
                          const std::string& ranks, const std::string& scaling = "strong") {
  const auto place = std::ranges::find_if(records, [&](const Measurement& one) {
    const auto its = one.conditions.find("scaling");
    return one.metric == metric && one.conditions.at("ranks") == ranks &&
           (its == one.conditions.end() || its->second == scaling);
  });
  REQUIRE(place != records.end());
  return *place;
}

const ScalingGrid kGrid{.ranks = {1, 4, 1000}, .scalings = {"strong", "weak"}};

}  // namespace

TEST_CASE("one rank is one point, the others are one a scheme and scaling") {
  const auto points = points_of(kGrid);
  REQUIRE(points.size() == 5);
  CHECK(to_string(points[0]) == "1 rank");
  CHECK(to_string(points[4]) == "1000 ranks, consistent_decentralized, weak");
}

TEST_CASE("efficiency is over the fewest ranks, run by run") {
  const auto records =
      scaling_study(points_of(kGrid), square_root, {.repetition = {.runs = 3, .seed = 1}});
  // 2 / 4, whatever the day: the runs of a seed are compared with each other.
  const Measurement& four = record(records, "efficiency", "4");
  CHECK(four.samples == std::vector<double>{0.5, 0.5, 0.5});
  CHECK_FALSE(four.conditions.contains("mean"));  // it was the throughput's
  CHECK(record(records, "throughput", "4").conditions.at("mean").unit == "sample/s");
  CHECK(record(records, "throughput", "4").samples == std::vector<double>{200, 400, 600});
  const auto table = scaling_summary(records);
  CHECK(table.rows().size() == 5);
  // The scheme's fewest ranks are the baseline if there is no single rank: sqrt(1000 / 4) / (1000 /
  // 4).
  const auto from_four = scaling_study(points_of({.ranks = {4, 1000}}), square_root,
                                       {.repetition = {.runs = 2, .seed = 1}});
  CHECK(record(from_four, "efficiency", "1000").samples.front() == Approx(1 / std::sqrt(250.0)));
  const auto plot = scaling_plot(records);
  CHECK(plot.series.size() == 3);  // strong, weak, and perfect scaling
  CHECK(testing::faults_of_texts(plot) == "");
}

TEST_CASE("more ranks than cores are mistrusted") {
  const auto records =
      scaling_study(points_of(kGrid), square_root, {.repetition = {.runs = 2, .seed = 1}});
  CHECK(record(records, "throughput", "1000").status == Status::mistrusted);
  CHECK_THAT(record(records, "throughput", "1000").reason, Catch::Contains("1000 ranks"));
  CHECK(record(records, "throughput", "1").status == Status::passed);
}

TEST_CASE(
    "reasons of all runs and ranks stand below the table, with ranges in place of repetition") {
  Measurement two{.metric = "throughput", .unit = "sample/s", .samples = {100, 120}};
  two.conditions = {{"ranks", identity(2)}, {"scaling", identity("strong")}};
  for (const char* busy : {"1.6", "1.4"}) {
    mistrust(two, std::string("other work kept ") + busy + " of 2 processors busy");
  }
  Measurement weak = two;
  weak.conditions["scaling"] = identity("weak");
  weak.reason = "other work kept 1.9 of 2 processors busy; the processor's speed changed";
  const std::string text = scaling_text({two, weak}, Format::table);
  CHECK_THAT(text, Catch::Contains("mistrusted [1]") && Catch::Contains("mistrusted [1,2]"));
  CHECK_THAT(text, Catch::EndsWith("\n\n[1] other work kept 1.4 to 1.9 of 2 processors busy\n"
                                   "[2] the processor's speed changed\n"));
}

TEST_CASE("the base of an efficiency is one rank, not one ranks") {
  const auto records =
      scaling_study(points_of(kGrid), square_root, {.repetition = {.runs = 1, .seed = 1}});
  CHECK(record(records, "efficiency", "4").conditions.at("base") == "1 rank");
}

TEST_CASE("a study that goes on makes no run twice") {
  if (world()->size() > 1) return;  // one writes
  const testing::TemporaryFolder folder;
  int made = 0;
  const auto train = [&](const ScalingPoint& point, std::uint64_t seed) {
    ++made;
    return square_root(point, seed);
  };
  ScalingStudyOptions options{.repetition = {.runs = 2, .seed = 1},
                              .out = (folder.path() / "runs.json").string(),
                              .how = "made up"};
  (void)scaling_study(points_of(kGrid), train, options);
  CHECK(made == 10);
  options.resume = true;
  options.repetition.runs = 3;
  const auto records = scaling_study(points_of(kGrid), train, options);
  CHECK(made == 15);
  CHECK(record(records, "efficiency", "4", "weak").samples.size() == 3);
}

TEST_CASE("a grid that makes no sense is refused") {
  CHECK_THROWS_AS(points_of({.ranks = {}}), ValueError);
  CHECK_THROWS_AS(points_of({.ranks = {0}}), ValueError);
  CHECK_THROWS_AS(points_of({.ranks = {2, 2}}), ValueError);
  CHECK_THROWS_AS(points_of({.schemes = {"no_such_scheme"}}), NotFound);
  CHECK_THROWS_WITH(points_of({.scalings = {"strange"}}), Catch::Contains("strong or weak"));
}

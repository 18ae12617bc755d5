// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/validation/training_report.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/level2_training/training/training_variant.hpp"
#include "d5/level2_training/validation/optimizer_validation.hpp"
#include "tests/level2_training/tiny_recipe.hpp"

using namespace d5;

namespace {

/// Records like those of `d5 train --vary --repeat 2 --out`.
std::vector<Measurement> written() {
  std::vector<Measurement> all;
  for (const auto& variant : vary(test::tiny_recipe(), "optimizer.name=momentum,sgd")) {
    RepeatedRuns runs;
    for (const std::uint64_t seed : {3, 4}) {
      TrainingSession session(with_seed(variant.recipe, seed));
      runs.seeds.push_back(seed);
      runs.records.push_back(session.run());
      all.insert(all.end(), runs.records.back().begin(), runs.records.back().end());
    }
    const auto joined = join_runs(runs);
    all.insert(all.end(), joined.begin(), joined.end());
  }
  return all;
}

std::vector<std::string> names_of(const std::vector<Plot>& plots) {
  std::vector<std::string> names;
  for (const auto& plot : plots) names.push_back(plot.name);
  return names;
}

}  // namespace

TEST_CASE("records tell which runs are of one training, and draw what training drew") {
  const std::vector<Report::Source> sources{{"", {{}, written()}}};
  const auto trainings = trainings_in(sources);
  REQUIRE(trainings.size() == 2);
  CHECK(trainings[0].name == "momentum");
  CHECK(trainings[1].name == "sgd");
  for (const auto& training : trainings) {
    CHECK(training.runs.seeds == std::vector<std::uint64_t>{3, 4});
    REQUIRE(training.runs.records.size() == 2);
    CHECK(test::record_of(training.runs.records[0], "loss").samples.size() == 3);
  }
  const auto plots = training_plots(sources);
  CHECK(names_of(plots) == std::vector<std::string>{"accuracy-over-epochs", "loss-over-time"});
  CHECK(plots[0].series == std::vector<std::string>{"momentum", "sgd"});
  CHECK(plots[0].marks.size() == 4);
  CHECK(plots[1].marks.size() == 4);
}

TEST_CASE("runs, joined runs and comparisons of trainings are groups of their own") {
  auto records = written();
  records[1].conditions["target"] = identity(0.9);  // belongs to one metric
  const auto joined_sgd = records.back();
  records.push_back(joined_sgd);
  records.back().metric = "test_accuracy_ratio";
  records.back().conditions["base"] = identity("momentum");
  const auto groups = repeated_training_groups(records);
  REQUIRE(groups.size() == 5);
  const std::vector<std::string> optimizers = {"momentum", "sgd", "momentum", "sgd", "sgd"};
  std::size_t all = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    CAPTURE(i);
    all += groups[i].size();
    for (const Measurement& record : groups[i]) {
      CHECK(record.conditions.at("optimizer") == optimizers[i]);
      CHECK(record.conditions.contains("runs") == (i >= 2));
      CHECK(record.conditions.contains("base") == (i == 4));
    }
  }
  CHECK(all == records.size());
  CHECK(repeated_training_groups({records.front()}).empty());
}

TEST_CASE("the same training in two files is told apart by its file") {
  TrainingSession session(test::tiny_recipe());
  const Results results{{}, session.run()};
  const auto trainings = trainings_in({{"monday.json", results}, {"tuesday.json", results}});
  REQUIRE(trainings.size() == 2);
  CHECK(trainings[1].name == "tuesday.json");
  CHECK(names_of(training_plots({{"", results}})) == std::vector<std::string>{"loss-over-time"});
  CHECK(training_plots({{"", {}}}).empty());
}

TEST_CASE("what an optimizer's check wrote draws how far it went from its judge") {
  OptimizerCheck how{.against = {"sgd"}, .steps = 3};
  const auto drawn = [&] {
    return training_plots({{"", {{}, check_optimizer({"momentum"}, how)}}});
  };
  const auto together = drawn();
  REQUIRE(names_of(together) == std::vector<std::string>{"divergence"});
  CHECK_THAT(together[0].title, Catch::Contains("momentum against sgd"));
  CHECK(together[0].marks.size() == 2);  // its own gradients, and the judge's
  Plot picture;
  how.parameters = OptimizerCheck::Parameters::each;
  how.drawn = &picture;
  const auto each = drawn();
  REQUIRE(each.size() == 1);
  CHECK(each[0].series == picture.series);
  REQUIRE(each[0].marks.size() == picture.marks.size());
  for (std::size_t i = 0; i < picture.marks.size(); ++i) {
    CHECK(std::ranges::equal(each[0].marks[i].points, picture.marks[i].points,
                             [](PlotPoint a, PlotPoint b) { return a.x == b.x && a.y == b.y; }));
  }
}

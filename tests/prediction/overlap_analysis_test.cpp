// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/overlap/overlap_analysis.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"

namespace d5 {
namespace {

OverlapGrid grid_of(const std::string& text) { return overlap_grid_from_csv(text, "g.csv", "b"); }

TEST_CASE("the best setting of a row has its gain over the base, within rounding") {
  const auto best = best_settings(grid_of("model,batch,a,b\nm,8,110,100\nm,16,100,120\n"));
  REQUIRE(best.size() == 2);
  CHECK(best[0].setting == "a");
  CHECK(best[0].gain.value == Approx(1.1));
  CHECK(best[0].gain.interval.low == Approx(109.5 / 100.5));
  CHECK(best[0].gain.interval.high == Approx(110.5 / 99.5));
  CHECK(best[0].differs);
  CHECK(best[1].setting == "b");
  CHECK(best[1].gain.value == 1);
  CHECK_FALSE(best[1].differs);
}

TEST_CASE("no difference is found where intervals meet, and rivals are named") {
  const auto best = best_settings(grid_of("model,batch,a,b,c\nm,8,100,100,90\n"));
  CHECK(best.front().setting == "a");
  CHECK_FALSE(best.front().differs);
  CHECK(best.front().rivals == std::vector<std::string>{"b"});
}

TEST_CASE("a row whose base was not measured has a best setting and no gain") {
  const auto best = best_settings(grid_of("model,batch,a,b\nm,8,100.5,\n"));
  CHECK(best.front().setting == "a");
  CHECK(std::isnan(best.front().gain.value));
  CHECK_FALSE(best.front().differs);
}

TEST_CASE("ratios that were measured in pairs decide, whatever the throughputs say") {
  OverlapGrid grid{.base = "b"};
  grid.cells = {
      {.model = "m", .setting = "b", .throughput = 100, .gain = Estimate{1, {1, 1}, 1}},
      {.model = "m", .setting = "a", .throughput = 90, .gain = Estimate{1.05, {1.02, 1.08}, 0.95}}};
  const auto best = best_settings(grid);
  CHECK(best.front().setting == "a");
  CHECK(best.front().gain.value == 1.05);
  CHECK(best.front().differs);
  CHECK(best.front().rivals.empty());
}

TEST_CASE("one setting for all loses what the best of each row is faster") {
  // b is half as fast as a in the first row, and twice as fast in the second; c is in one alone
  const auto single =
      single_settings(grid_of("model,batch,a,b,c\nm,1,200,100,200\nn,2,50,100,\no,4,9,9,\n"));
  REQUIRE(single.size() == 3);
  CHECK(single[0].setting == "a");
  CHECK(single[0].mean_loss ==
        Approx(1 - std::pow(0.25, 1.0 / 6) / std::pow(0.25, 1.0 / 6) * std::pow(0.5, 1.0 / 3)));
  CHECK(single[0].worst == "n 2");
  CHECK(single[0].worst_loss == 0.5);
  CHECK(single[0].best_rows == 2);
  CHECK(single[1].worst == "m 1");
  CHECK(single[2].setting == "c");
  CHECK(single[2].rows == 1);
  CHECK(single[2].mean_loss == 0);
}

TEST_CASE("an error in a grid has file and line") {
  const auto [text, says] = GENERATE(table<std::string, std::string>({
      {"a,b\n", "g.csv:1: no such head"},
      {"model,batch,a,b\nm,8,1\n", "g.csv:2: 3 cells under a head of 4"},
      {"model,batch,b\nm,8,fast\n", "'fast' is not a positive number"},
      {"model,batch,b\nm,8,nan\n", "not a positive number"},
      {"model,batch,b\nm,8,-1\n", "not a positive number"},
      {"model,batch,b\nm,1.5,1\n", "not a whole number"},
      {"model,batch,b\n", "no row"},
  }));
  CHECK_THROWS_AS(grid_of(text), FormatError);
  CHECK_THROWS_WITH(grid_of(text), Catch::Contains(says));
  CHECK_THROWS_AS(grid_of("model,batch,a,b_percent\n"), NotFound);
}

/// The gain of the best over the default in each row, as printed in the study, in per cent.
std::map<std::string, double> published_gains(const std::string& text) {
  std::map<std::string, double> gains;
  std::istringstream in(text);
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    const auto second = line.find(',', line.find(',') + 1);
    gains[line.substr(0, second)] = std::stod(line.substr(line.rfind(',') + 1));
  }
  return gains;
}

TEST_CASE("the published grid gives the published best settings and gains, within rounding") {
  const char* data = std::getenv("D5_DATA_DIR");
  const std::string file = std::string(data ? data : "") + "/overlap/throughput.csv";
  if (!data || !std::filesystem::exists(file)) {
    WARN("skipped: needs D5_DATA_DIR with overlap");
    return;
  }
  const std::string text = read_file(file);
  const auto published = published_gains(text);
  const auto best = best_settings(overlap_grid_from_csv(text, file));
  REQUIRE(best.size() == 28);
  std::map<std::string, std::string> settings;
  int compared = 0;
  for (const BestSetting& one : best) {
    const std::string row = one.model + "," + std::to_string(one.batch);
    settings[row] = one.setting;
    CAPTURE(row);
    if (std::isnan(one.gain.value)) continue;  // an unreadable cell
    ++compared;
    const double gain = published.at(row) / 100;  // printed with one digit after the point
    CHECK(gain + 0.0005 >= one.gain.interval.low - 1);
    CHECK(gain - 0.0005 <= one.gain.interval.high - 1);
    if (row == "ResNet101,64") CHECK(one.gain.value == Approx(1.172).margin(0.0005));
  }
  CHECK(compared == 26);
  for (const char* batch : {"16", "32", "64", "128"}) {
    CHECK(settings[std::string("AlexNet,") + batch] == "1x256");
    if (std::string(batch) == "16") continue;
    CHECK(settings[std::string("ResNet50,") + batch] == "1x64");
    CHECK(settings[std::string("ResNet101,") + batch] == "1x64");
  }
}

}  // namespace
}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/results/ratio_summary.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/measuring/ratio.hpp"

using namespace d5;

namespace {

/// 30 samples around `seconds`, each 1% from the next.
Measurement summed_time(const std::string& subject, const std::string& framework, double seconds) {
  Measurement m{.subject = subject, .framework = framework, .metric = "time", .unit = "s"};
  m.quantity = Quantity::time;
  m.conditions["pass"] = identity("forward");
  for (int i = 0; i < 30; ++i) m.samples.push_back(seconds * (1 + 0.01 * (i % 3)));
  return m;
}

}  // namespace

TEST_CASE("ratios are faster, slower or undecided by their intervals, mistrusted before all") {
  const RatioSummary all = summarise_ratios(std::vector<JudgedRatio>{{0.5, {0.4, 0.6}},
                                                                     {2, {1.9, 2.1}},
                                                                     {4, {3, 5}},
                                                                     {1, {0.9, 1.1}},
                                                                     {0.25, {NAN, NAN}},
                                                                     {1, {0.1, 0.2}, true}});
  CHECK(all.ratios == 6);
  CHECK(all.faster == 1);
  CHECK(all.slower == 2);
  CHECK(all.undecided == 2);
  CHECK(all.mistrusted == 1);
  // 0.5 * 2 * 4 * 1 * 0.25 * 1 = 1
  CHECK(all.mean.value == Approx(1));
  CHECK(std::isnan(summarise_ratios({}).mean.value));
}

TEST_CASE("two frameworks over several cases are summed up in a row, one case is not") {
  std::vector<Measurement> records;
  const auto add = [&](const std::string& subject, const std::string& framework, double seconds) {
    records.push_back(summed_time(subject, framework, seconds));
    records.push_back(ratio_record(records.back(), summed_time(subject, "reference", 1)));
  };
  add("Relu 8", "torch", 0.5);
  add("Relu 8", "other", 1);
  CHECK(summary_of_ratios(records).size() == 0);
  add("Relu 64", "torch", 0.125);
  const TextTable table = summary_of_ratios(records);
  CHECK(table.to_text(Format::csv) ==
        "framework,base,pass,cases,geometric mean,95% interval,faster,slower,undecided,"
        "mistrusted\r\n"
        // The logarithms' mean is -2 ln 2.
        "torch,reference,forward,2,0.250,–,2,0,0,0\r\n");
  std::vector<Measurement> vanished = records;
  for (auto& record : vanished) {
    if (record.metric == "time_ratio") std::ranges::fill(record.samples, 0.0);
  }
  CHECK_THAT(summary_of_ratios(vanished).to_text(Format::csv), !Catch::Contains("nan"));
  CHECK(note_on_means({table}) == "– no interval: fewer than 5 cases tell nothing of others");
  CHECK(note_on_means({TextTable({"a"})}).empty());
  CHECK(summary_of_ratios({}).size() == 0);
  for (auto& record : records) record.device = "cuda:0";
  CHECK(summary_of_ratios(records).columns().at(2).title == "device");
}

TEST_CASE("the longest name of a pass leaves a summary in 120 columns") {
  std::vector<Measurement> records;
  for (const char* subject : {"Relu 8", "Relu 64"}) {
    Measurement torch = summed_time(subject, "torch", 0.5),
                reference = summed_time(subject, "reference", 1);
    torch.conditions["pass"] = identity("backward-weights");
    records.push_back(ratio_record(torch, reference));
  }
  const std::string text = summary_of_ratios(records).to_text(Format::table, 120);
  CHECK(std::count(text.begin(), text.end(), '\n') == 3);  // no row is broken
}

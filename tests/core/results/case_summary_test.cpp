// SPDX-License-Identifier: Apache-2.0
#include "d5/core/results/case_summary.hpp"

#include <catch2/catch.hpp>

#include "d5/core/measuring/ratio.hpp"

using namespace d5;

namespace {

Measurement timed(const std::string& subject, const std::string& framework, double seconds) {
  Measurement m{.subject = subject, .framework = framework, .metric = "time", .unit = "s"};
  m.quantity = Quantity::time;
  m.conditions["pass"] = identity("forward");
  m.samples.assign(30, seconds);
  return m;
}

Measurement ratio(const std::string& subject, const std::string& framework, double seconds) {
  return ratio_record(timed(subject, framework, seconds), timed(subject, "reference", 1));
}

Measurement share(const std::string& subject, const std::string& framework, double value) {
  Measurement m = timed(subject, framework, value);
  m.metric = "share_of_peak";
  m.quantity = Quantity::ratio;
  return m;
}

}  // namespace

TEST_CASE("each framework's times are over the fastest one's, case by case") {
  std::vector<Measurement> records = {ratio("Relu 8", "torch", 0.5), ratio("Relu 8", "onednn", 2)};
  CHECK(summary_of_fastest(records).size() == 0);  // one case says nothing together
  records.push_back(ratio("Relu 64", "torch", 2));
  records.push_back(ratio("Relu 64", "onednn", 0.25));
  records.push_back(share("Relu 8", "onednn", 0.25));
  records.push_back(share("Relu 64", "onednn", 1));
  // torch: 1 and 8; onednn: 4 and 1; the reference, whose ratios are 1: 2 and 4.
  CHECK(summary_of_fastest(records).to_text(Format::csv) ==
        "framework,pass,cases,fastest in,time / fastest,95% interval,share of peak\r\n"
        "onednn,forward,2,1,2.000,–,0.500\r\n"
        "reference,forward,2,0,2.828,–,\r\n"
        "torch,forward,2,1,2.828,–,\r\n");
  CHECK(summaries_of(records).size() == 2);
}

TEST_CASE("cases of which a ratio is mistrusted are counted") {
  std::vector<Measurement> records = {ratio("Relu 8", "torch", 0.5), ratio("Relu 8", "onednn", 2),
                                      ratio("Relu 64", "torch", 2), ratio("Relu 64", "onednn", 4)};
  mistrust(records[0], "the samples drift");
  CHECK(summary_of_fastest(records).to_text(Format::csv) ==
        "framework,pass,cases,fastest in,time / fastest,95% interval,mistrusted\r\n"
        "reference,forward,2,1,1.414,–,1\r\n"
        "torch,forward,2,1,1.414,–,1\r\n"
        "onednn,forward,2,0,4.000,–,1\r\n");
}

TEST_CASE("a framework without a number has a case less, and two alone have no such table") {
  std::vector<Measurement> records;
  for (const char* subject : {"Relu 8", "Relu 64", "Relu 512"}) {
    records.push_back(ratio(subject, "torch", 0.5));
  }
  CHECK(summary_of_fastest(records).size() == 0);
  CHECK(summaries_of(records).size() == 1);
  records.push_back(ratio("Relu 8", "onednn", 0.25));
  records.push_back(ratio("Relu 64", "onednn", 0.25));
  records.push_back(ratio("Relu 512", "onednn", 0.25));
  records.back().samples.clear();
  const std::string text = summary_of_fastest(records).to_text(Format::csv);
  CHECK(text.find("onednn,forward,2,2,1.000,") != std::string::npos);
  CHECK(text.find("torch,forward,2,0,2.000,") != std::string::npos);
}

// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/judge/source_verdict.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/ratio.hpp"

using namespace d5;
using Catch::Contains;

namespace {

/// Records of a source that took `seconds` in each of a case's calls, beside one of 1 s.
std::vector<Measurement> records_of(const std::string& source, const std::string& line,
                                    std::vector<double> seconds, double floor = 0.5) {
  Measurement time{.subject = line,
                   .command = "d5 op judge " + source,
                   .framework = source,
                   .metric = "time",
                   .samples = std::move(seconds),
                   .artefacts = {{.name = source, .sha256 = "digest of " + source}}};
  time.conditions["pass"] = identity("forward");
  time.conditions["answers"] = finding("right");
  time.conditions["floor"] = finding(floor, "s");
  Measurement base = time;
  base.framework = "torch";
  base.artefacts.clear();
  base.samples.assign(time.samples.size(), 1.0);
  return {time, base, ratio_record(time, base)};
}
void add(std::vector<Measurement>& all, const std::vector<Measurement>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

TEST_CASE("a verdict has the geometric mean over cases, with the interval of its rounds") {
  auto records = records_of("a.cpp", "Relu 2", std::vector<double>(10, 2.0));
  add(records, records_of("a.cpp", "Relu 3", std::vector<double>(10, 8.0), 2));
  const SourceVerdict verdict = verdicts_of(records).at(0);
  CHECK(verdict.source == "a.cpp");
  CHECK(verdict.right());
  CHECK(verdict.base == "torch");
  CHECK(verdict.ratio == Approx(4));  // sqrt(2 x 8)
  CHECK(verdict.interval.low == Approx(4));
  CHECK(verdict.interval.high == Approx(4));
  CHECK(verdict.times_floor == Approx(4));  // sqrt(2 / 0.5 x 8 / 2)
  CHECK(verdict.reasons.empty());
}

TEST_CASE("a source that is wrong in one case has no ratio, and says where") {
  auto records = records_of("a.cpp", "Relu 2", {2, 2});
  auto wrong = records_of("a.cpp", "Relu 3", {});
  wrong[0].status = Status::failed;
  wrong[0].reason = "call 1: wrong answer: output 0";
  wrong[0].conditions["answers"] = finding("wrong");
  add(records, {wrong[0], wrong[1], ratio_record(wrong[0], wrong[1])});
  const SourceVerdict verdict = verdicts_of(records).at(0);
  CHECK(verdict.word() == "wrong");
  CHECK(verdict.right_cases == 1);
  CHECK(verdict.cases == 2);
  CHECK(std::isnan(verdict.ratio));
  CHECK(verdict.reasons ==
        std::vector<std::string>{"Relu 3 forward: call 1: wrong answer: output 0"});
}

TEST_CASE("a source with a case that could not be judged is incomplete") {
  auto records = records_of("a.cpp", "Relu 2", {2, 2});
  records[0].status = Status::unsupported;
  records[0].reason = "no reference judges it";
  records[0].samples.clear();
  CHECK(verdicts_of(records).at(0).word() == "incomplete");
}

TEST_CASE("the board has right sources first, the fastest at the top") {
  auto records = records_of("slow.cpp", "Relu 2", {3, 3});
  auto wrong = records_of("wrong.cpp", "Relu 2", {});
  wrong[0].status = Status::failed;
  wrong[0].reason = "call 1: crashed";
  add(records, {wrong[0], wrong[1]});
  add(records, records_of("fast.cpp", "Relu 2", {0.25, 0.25}));
  add(records, records_of("other.cpp", "Relu 9", {0.5, 0.5}));
  const auto rows = judge_board(records).rows();
  REQUIRE(rows.size() == 4);
  CHECK(rows[0][0] == "fast.cpp");
  CHECK(rows[0][3] == "0.250");
  CHECK(rows[1][0] == "other.cpp");
  CHECK_THAT(rows[1].back(), Contains("other cases than slow.cpp"));
  CHECK(rows[2][0] == "slow.cpp");
  CHECK(rows[3][0] == "wrong.cpp");
  CHECK(rows[3][1] == "wrong");
  CHECK_THAT(rows[3].back(), Contains("call 1: crashed"));
}

TEST_CASE("a board without a judged source refuses, and says how to get one") {
  CHECK_THROWS_AS(judge_board({}), ValueError);
  auto records = records_of("a.cpp", "Relu 2", {1});
  records[0].artefacts.clear();
  records[2].artefacts.clear();
  CHECK_THROWS_WITH(judge_board(records), Contains("d5 op judge SOURCE"));
}

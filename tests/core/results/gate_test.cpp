// SPDX-License-Identifier: Apache-2.0
#include "d5/core/results/gate.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>

using namespace d5;
using Answer = GateFinding::Answer;

namespace {

/// 40 samples around `center`, spread by `spread`.
std::vector<double> around(double center, double spread = 0.01) {
  std::vector<double> samples;
  for (int i = 0; i < 40; ++i) {
    samples.push_back(center * (1 + spread * ((i * 7) % 40 - 20) / 20));
  }
  return samples;
}

Measurement gated_time(std::vector<double> samples, const std::string& subject = "Relu 8") {
  return {.subject = subject,
          .level = "operator",
          .framework = "reference",
          .metric = "time",
          .unit = "s",
          .quantity = Quantity::time,
          .samples = std::move(samples)};
}

Measurement gated_ratio(std::vector<double> samples) {
  Measurement result = gated_time(std::move(samples));
  result.metric = "time_ratio";
  result.quantity = Quantity::ratio;
  return result;
}

Results holding(std::vector<Measurement> measurements) { return {{}, std::move(measurements)}; }

Answer answer(const Measurement& a, const Measurement& b, double limit) {
  const auto findings = judge(holding({a}), holding({b}), limit);
  REQUIRE(findings.size() == 1);
  CHECK((findings.front().answer == Answer::held) == findings.front().reason.empty());
  return findings.front().answer;
}

}  // namespace

TEST_CASE("a gate holds within its limit, breaks beyond it, and cannot tell in between") {
  const Measurement base = gated_time(around(1)), twice = gated_time(around(2));
  CHECK(answer(base, twice, 2.5) == Answer::held);
  CHECK(answer(base, twice, 1.5) == Answer::broken);
  CHECK(answer(base, twice, 2) == Answer::undecided);
  CHECK(answer(base, gated_time({2, 2, 2}), 1.5) == Answer::undecided);  // no interval
  CHECK(judge(gated_ratio(around(2)), 2.5).answer == Answer::held);
  CHECK(judge(gated_ratio(around(2)), 1.5).answer == Answer::broken);
  CHECK(judge(gated_ratio(around(2)), 2).answer == Answer::undecided);
}

TEST_CASE("a time that was measured once is undecided, with a way out") {
  const auto findings = judge(holding({gated_time({1})}), holding({gated_time({1})}), 1.5);
  REQUIRE(findings.size() == 1);
  CHECK(findings.front().answer == Answer::undecided);
  CHECK_THAT(findings.front().reason,
             Catch::Contains("interval: 1;") && Catch::Contains("only=batch_time"));
}

TEST_CASE("a gate cannot tell what is mistrusted, however far it is from the limit") {
  Measurement twice = gated_time(around(2)), ratio_of_two = gated_ratio(around(2));
  mistrust(twice, "the samples drift");
  mistrust(ratio_of_two, "the samples drift");
  for (const double limit : {1.05, 100.0}) {
    const auto files = judge(holding({gated_time(around(1))}), holding({twice}), limit).front();
    CHECK(files.answer == Answer::undecided);
    CHECK_THAT(files.reason, Catch::Contains("B is mistrusted: the samples drift"));
    CHECK(judge(ratio_of_two, limit).answer == Answer::undecided);
    CHECK_THAT(judge(ratio_of_two, limit).reason, Catch::Contains("the samples drift"));
  }
}

TEST_CASE("a gate judges at the confidence that is asked") {
  // The limit lies within the interval of 99.99%, and beyond that of 50%.
  const Measurement noisy = gated_ratio(around(1, 0.5));
  CHECK(judge(noisy, 1.2, 0.5).answer == Answer::held);
  CHECK(judge(noisy, 1.2, 0.9999).answer == Answer::undecided);
}

TEST_CASE("what got slower because it is gone does not pass a gate") {
  Measurement failed = gated_time({});
  failed.status = Status::failed;
  failed.reason = "it crashed";
  const Measurement other = gated_time(around(1), "Tanh 8");
  const auto findings =
      judge(holding({gated_time(around(1)), other}), holding({failed, other}), 1.05);
  REQUIRE(findings.size() == 2);
  CHECK(findings[1].answer == Answer::undecided);
  CHECK(findings[1].reason == "B is failed: it crashed");
  const auto absent = judge(holding({gated_time(around(1)), other}), holding({other}), 1.05);
  REQUIRE(absent.size() == 2);
  CHECK(absent[1].reason == "B has no such record");
}

TEST_CASE("what a run answers is no cost: without an interval no gate judges it") {
  Measurement error = error_record(), larger = error_record();
  error.samples = {1e-7};
  larger.samples = {9e-7};
  const auto findings =
      judge(holding({gated_time(around(1)), error}), holding({gated_time(around(1)), larger}), 1.5);
  REQUIRE(findings.size() == 1);
  CHECK(findings.front().answer == Answer::held);
  const auto nothing = judge(holding({error}), holding({larger}), 1.5);
  REQUIRE(nothing.size() == 1);
  CHECK(nothing.front().answer == Answer::undecided);
}

TEST_CASE("a count is exact, and a higher number that is better is not worse") {
  Measurement few = gated_time({4}), many = gated_time({8});
  for (auto* m : {&few, &many}) {
    m->quantity = Quantity::bytes;
    m->statistic = {.of = Statistic::Of::single};
  }
  CHECK(answer(few, many, 1.5) == Answer::broken);
  CHECK(answer(few, many, 2) == Answer::held);
  Measurement share = gated_time(around(1)), higher = gated_time(around(2));
  for (auto* m : {&share, &higher}) {
    m->quantity = Quantity::other;
    m->direction = Direction::higher_is_better;
  }
  CHECK(answer(share, higher, 1.5) == Answer::held);
  CHECK(answer(higher, share, 1.5) == Answer::broken);
}

TEST_CASE("interleaved ratios alone are judged, and beside their times they are not") {
  const Measurement base = gated_ratio(around(1)), twice = gated_ratio(around(2));
  CHECK(answer(base, twice, 2.5) == Answer::held);
  CHECK(answer(base, twice, 1.5) == Answer::broken);
  const auto beside =
      judge(holding({gated_time(around(1)), base}), holding({gated_time(around(1)), twice}), 1.5);
  REQUIRE(beside.size() == 1);
  CHECK(beside.front().subject == "Relu 8 reference time");
  CHECK(beside.front().answer == Answer::held);
  const auto gone = judge(holding({base}), holding({}), 1.5);
  REQUIRE(gone.size() == 1);
  CHECK(gone.front().subject == "Relu 8 reference time_ratio");
  CHECK(gone.front().reason == "B has no such record");
}

TEST_CASE("doubts about a case stand in one line, each reason once below all") {
  std::vector<Measurement> before, after;
  for (const char* subject : {"Relu 8", "Tanh 8"}) {
    Measurement time = gated_time(around(1), subject), rate = time;
    rate.metric = "flop_rate";
    rate.quantity = Quantity::rate;
    rate.direction = Direction::higher_is_better;
    before.insert(before.end(), {time, rate});
    const int busy = before.size() > 2 ? 4 : 3;
    mistrust(time, fmt::format("other work kept {} of 8 processors busy", busy));
    mistrust(rate, fmt::format("other work kept {} of 8 processors busy", busy));
    mistrust(rate, "the samples drift");
    after.insert(after.end(), {time, rate});
  }
  const auto [lines, notes] = text_of(judge(holding(before), holding(after), 1.5));
  CHECK(lines == std::vector<std::string>{
                     "cannot tell: Relu 8 reference time, flop_rate: mistrusted [1,2]",
                     "cannot tell: Tanh 8 reference time, flop_rate: mistrusted [1,2]"});
  CHECK(notes ==
        std::vector<std::string>{"[1] B is mistrusted: other work kept 3 to 4 of 8 processors busy",
                                 "[2] B is mistrusted: the samples drift"});
  const auto one = text_of(judge(holding({before[0]}), holding({after[0]}), 1.5));
  CHECK(one.notes.empty());
  CHECK(one.findings ==
        std::vector<std::string>{"cannot tell: Relu 8 reference time: B is mistrusted: other work "
                                 "kept 3 of 8 processors busy"});
  const auto broken = text_of(judge(holding(before), holding({before[2], before[3]}), 1.5));
  CHECK(broken.findings ==
        std::vector<std::string>{"cannot tell: Relu 8 reference time: B has no such record"});
}

TEST_CASE("an undecided gate is measured again, with twice the samples, until it is decided") {
  std::vector<int> tries;
  int told = 0;
  const auto measure = [&](int samples) {  // noisy twice, and steady from then on
    tries.push_back(samples);
    return std::vector{gated_time(around(1)),
                       gated_ratio(around(1, tries.size() < 3 ? 0.9 : 0.01))};
  };
  const auto once = measure_until_decided(measure, 30, {.limit = 1.05});
  CHECK(tries == std::vector{30});
  CHECK(once.finding.answer == Answer::undecided);
  CHECK(once.records[1].status == Status::mistrusted);
  CHECK(once.records[1].reason == once.finding.reason);
  tries.clear();
  const auto decided = measure_until_decided(
      measure, 30,
      {.limit = 1.05, .retries = 5, .before_retry = [&](const auto& finding, int retry, int) {
         CHECK(finding.answer == Answer::undecided);
         CHECK(retry == ++told);
       }});
  CHECK(tries == std::vector{30, 60, 120});
  CHECK(told == 2);
  CHECK(decided.finding.answer == Answer::held);
  CHECK(decided.records[1].status == Status::passed);
}

TEST_CASE("a broken gate fails the ratio's record, and a pair without ratio is undecided") {
  const auto slow = measure_until_decided([](int) { return std::vector{gated_ratio(around(2))}; },
                                          30, {.limit = 1.5, .retries = 3});
  CHECK(slow.finding.answer == Answer::broken);
  CHECK(slow.records[0].status == Status::failed);
  CHECK(slow.records[0].reason == slow.finding.reason);
  const auto none =
      measure_until_decided([](int) { return std::vector{gated_time({})}; }, 30, {.limit = 1.5});
  CHECK(none.finding.answer == Answer::undecided);
}

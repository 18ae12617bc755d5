// SPDX-License-Identifier: Apache-2.0
// Evaluations whose models run in processes of their own, and systems that do what they must not.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/run/evaluate.hpp"
#include "tests/evaluation/toy_evaluation.hpp"

namespace d5 {
namespace {

using Catch::Contains;

EvaluationManifest evaluation_in(const testing::ToyEvaluation& toy,
                                 std::vector<std::string> frameworks) {
  EvaluationManifest manifest;
  manifest.name = "test";
  manifest.version = "1.0.0-dev";
  manifest.models = {toy.model()};
  manifest.frameworks = std::move(frameworks);
  manifest.scenarios = {{"closed_loop"}, {"batched"}};
  manifest.queries = 10;
  return manifest;
}

/// "framework metric scenario" of each record.
std::map<std::string, const Measurement*> records_by_name(const Results&& results) = delete;
std::map<std::string, const Measurement*> records_by_name(const Results& results) {
  std::map<std::string, const Measurement*> named;
  for (const Measurement& record : results.measurements) {
    const std::string framework = record.framework.substr(0, record.framework.find(':'));
    named.emplace(framework + " " + record.metric + " " + condition_of(record, "scenario"),
                  &record);
  }
  return named;
}

/// All that a sink hears, as text.
struct WrittenSink final : EvaluationSink {
  std::vector<std::string> heard;
  void evaluation(const EvaluationRun&) override {}
  void measurements(const std::string& run, const std::string& piece,
                    std::span<const Measurement> records) override {
    std::string text = run + "/" + piece + ":";
    for (const Measurement& record : records) text += " " + record.metric;
    heard.push_back(text);
  }
  void queries(const std::string&, const std::string& piece,
               std::span<const QueryRecord> records) override {
    std::string text = piece + " queries:";
    for (const QueryRecord& one : records) {
      text += " " + std::to_string(one.id) + "=" + std::to_string(one.sample);
      CHECK(one.ended > 0);
    }
    heard.push_back(text);
  }
  void answers(const std::string&, const std::string& piece,
               std::span<const SampleAnswer> answers) override {
    for (const SampleAnswer& one : answers) {
      heard.push_back(piece + " " + std::to_string(one.sample) + one.answer +
                      std::to_string(one.score));
    }
  }
  void trace(const std::string&, const std::string& piece, const Timeline& timeline) override {
    heard.push_back(piece + " trace " + std::to_string(timeline.records.size()));
  }
};

TEST_CASE("a process of its own tells what this one would") {
  const testing::ToyEvaluation toy;
  auto manifest = evaluation_in(toy, {"reference"});
  manifest.trace_levels = {"none", "model"};
  WrittenSink here, apart;
  const Results expected = evaluate(manifest, {.sink = &here, .run = "r"});
  const Results results =
      evaluate(manifest, {.sink = &apart, .run = "r", .isolation = {.most_seconds = 100}});
  CHECK(apart.heard == here.heard);
  REQUIRE(results.measurements.size() == expected.measurements.size());
  for (std::size_t i = 0; i < results.measurements.size(); ++i) {
    const Measurement &a = results.measurements[i], &b = expected.measurements[i];
    CHECK(a.metric == b.metric);
    CHECK(a.samples.size() == b.samples.size());
    CHECK(a.command == b.command);
    CHECK(a.conditions.size() == b.conditions.size());
  }
}

TEST_CASE(
    "a cell that crashes, ends or fails is a failed row with its reason, and the matrix goes on") {
  const testing::ToyEvaluation toy;
  struct Fault {
    std::string how, says;
  };
  const auto fault =
      GENERATE(values<Fault>({{"crash", "SIGSEGV"}, {"end", "status 3"}, {"fail", "asked to"}}));
  const std::string word = "faulty:how=" + fault.how + ":output=means:classes=3:after=1";
  WrittenSink sink;
  const Results results = evaluate(evaluation_in(toy, {word, "reference"}),
                                   {.sink = &sink, .run = "r", .isolation = {.most_seconds = 100}});
  const auto records = records_by_name(results);
  const Measurement& top1 = *records.at("faulty top1 ");
  CHECK(top1.status == Status::failed);
  CHECK_THAT(top1.reason, Contains(fault.says));
  CHECK(records.at("faulty latency closed_loop")->status == Status::failed);
  CHECK(records.at("faulty latency batched")->status == Status::failed);
  CHECK(records.at("reference top1 ")->status == Status::passed);
  CHECK(records.at("reference latency batched")->status != Status::failed);
  const auto told = [&](const std::string& text) {
    return std::ranges::any_of(
        sink.heard, [&](const auto& line) { return line.find(text) != std::string::npos; });
  };
  CHECK(told("batched batch 1: latency"));
}

TEST_CASE("a cell that hangs is ended") {
  const testing::ToyEvaluation toy;
  auto manifest =
      evaluation_in(toy, {"faulty:how=hang:output=means:classes=3:after=1", "reference"});
  manifest.accuracy = false;
  manifest.scenarios = {{"closed_loop"}};
  const Results results = evaluate(manifest, {.isolation = {.most_seconds = 1.5}});
  const auto records = records_by_name(results);
  CHECK(records.at("faulty latency closed_loop")->status == Status::failed);
  CHECK_THAT(records.at("faulty latency closed_loop")->reason, Contains("hangs"));
  CHECK(records.at("reference latency closed_loop")->status != Status::failed);
}

TEST_CASE("NaN, and answers for another batch, are no answers") {
  const testing::ToyEvaluation toy;
  struct Fault {
    std::string how, says;
  };
  const auto fault = GENERATE(values<Fault>(
      {{"nan", "has NaN at element 0 of 3"}, {"batch", "expected 1 rows, one a sample"}}));
  auto manifest =
      evaluation_in(toy, {"faulty:how=" + fault.how + ":output=means:classes=3:after=1"});
  manifest.scenarios.push_back({"closed_loop", {{"users", 3}}});
  const Results results = evaluate(manifest);
  const auto records = records_by_name(results);
  CHECK_THAT(records.at("faulty top1 ")->reason,
             Contains("12 samples have no answer") && Contains(fault.says));
  for (const Measurement& record : results.measurements) {
    if (record.metric == "latency") CHECK(record.status == Status::failed);
  }
}

TEST_CASE("a claim that was missed is known after a crash") {
  const testing::ToyEvaluation toy;
  // Zeros are of class 0: 4 of 12 are right; the 13th call after warming up crashes.
  auto manifest = evaluation_in(toy, {"faulty:how=crash:output=means:classes=3:after=13"});
  const Results results = evaluate(manifest, {.isolation = {.most_seconds = 100}});
  const auto records = records_by_name(results);
  CHECK_THAT(records.at("faulty top1 ")->reason, Contains("1 is claimed"));
  CHECK_THAT(records.at("faulty latency closed_loop")->reason, Contains("SIGSEGV"));
  // The next process opens it again: ten queries are answered before it would crash.
  const Measurement& batched = *records.at("faulty latency batched");
  CHECK(batched.status == Status::mistrusted);
  CHECK_THAT(batched.reason, Contains("1 is claimed"));
}

TEST_CASE("libraries are traced in a process of their own alone") {
  const testing::ToyEvaluation toy;
  auto manifest = evaluation_in(toy, {"reference"});
  manifest.trace_levels = {"library"};
  CHECK_THROWS_AS(evaluate(manifest), ValueError);
}

}  // namespace
}  // namespace d5

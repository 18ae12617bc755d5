// SPDX-License-Identifier: Apache-2.0
// A results file and a database each get everything, whatever becomes of the other.
#include "d5/evaluation/run/run_sink.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/database/evaluation_database.hpp"
#include "d5/evaluation/run/evaluate.hpp"
#include "tests/evaluation/toy_evaluation.hpp"

namespace d5 {
namespace {

FixedEvaluation four_cells(const testing::ToyEvaluation& toy) {
  EvaluationManifest manifest;
  manifest.name = "test";
  manifest.version = "1.0.0-dev";
  manifest.models = {toy.model()};
  manifest.frameworks = {"reference"};
  manifest.scenarios = {{"batched"}};
  manifest.batches = {1, 2, 3};
  manifest.queries = 5;
  return fix_evaluation(manifest);
}

/// A database that is full after some calls.
class FullSink final : public EvaluationSink {
 public:
  explicit FullSink(int room) : room_(room) {}
  int calls = 0;

  void evaluation(const EvaluationRun&) override { take(); }
  void measurements(const std::string&, const std::string&, std::span<const Measurement>) override {
    take();
  }
  void queries(const std::string&, const std::string&, std::span<const QueryRecord>) override {
    take();
  }
  void answers(const std::string&, const std::string&, std::span<const SampleAnswer>) override {
    take();
  }
  void trace(const std::string&, const std::string&, const Timeline&) override { take(); }

 private:
  void take() {
    if (++calls > room_) throw IoError("'x.db' cannot be written: database or disk is full");
  }
  int room_;
};

}  // namespace

TEST_CASE("a database that is full costs no measurement, and is reported once at the end") {
  const testing::ToyEvaluation toy;
  const FixedEvaluation evaluation = four_cells(toy);
  const double isolated = GENERATE(0.0, 60.0);
  const int room = GENERATE(0, 1, 4);
  FullSink full(room);
  const std::string out = toy / "r.json";
  RunSink run(full, {.key = evaluation.key}, out, false);
  const Results results = evaluate(
      evaluation,
      {.out = out, .sink = &run, .run = run.id(), .isolation = {.most_seconds = isolated}});
  CHECK(full.calls == room + 1);  // and is left alone then
  for (const Measurement& record : read_results(out).measurements) {
    INFO(record.metric << ": " << record.reason);
    CHECK(record.status != Status::failed);
  }
  CHECK(read_results(out).measurements.size() == results.measurements.size());
  CHECK(std::ranges::count(results.measurements, "throughput", &Measurement::metric) == 3);
  CHECK_THROWS_WITH(run.end(), Catch::Contains("disk is full") && Catch::Contains("eval import") &&
                                   Catch::Contains(run.id().substr(0, 8)));
}

TEST_CASE("a results file that cannot be written costs the database nothing") {
  const testing::ToyEvaluation toy;
  const FixedEvaluation evaluation = four_cells(toy);
  const auto database = EvaluationDatabase::open(toy / "x.db");
  RunSink run(*database, {.key = evaluation.key, .manifest = evaluation.canonical}, "", false);
  EvaluateOptions options{.sink = &run, .run = run.id()};
  const WorkDone done = run_work(evaluation_work(evaluation, options),
                                 {.out = "/dev/full", .is_kept_elsewhere = true});
  CHECK_NOTHROW(run.end());
  CHECK_THROWS_AS(std::rethrow_exception(done.unwritten), IoError);
  const auto kept = database->results(run.id()).measurements;
  CHECK(kept.size() == done.results.measurements.size());
  CHECK(std::ranges::count(kept, "throughput", &Measurement::metric) == 3);
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
// d5 eval run, find-peak and lock, as a shell runs them.
#include <algorithm>
#include <filesystem>
#include <string>

#include "d5/core/files/atomic_file.hpp"
#include "d5/core/results/results.hpp"
#include "d5/evaluation/database/evaluation_database.hpp"
#include "tests/apps/background_run.hpp"
#include "tests/apps/program_run.hpp"
#include "tests/evaluation/toy_evaluation.hpp"

using Catch::Contains;
using d5::testing::run_d5;
using d5::testing::ToyEvaluation;

namespace {

/// Six cells that a sleeping predictor answers.
std::string matrix_of(const ToyEvaluation& toy) {
  const std::string sleeps = "sleep:output=means:classes=3:seconds=0.002";
  d5::write_file(toy / "matrix.yaml",
                 "kind: evaluation\nname: matrix\nversion: 1.0.0-dev\nmodels: ['" + toy.model() +
                     "']\nframeworks: ['" + sleeps +
                     "']\naccuracy: false\nqueries: 5\nscenarios: "
                     "[{name: closed_loop, users: 2}, batched]\nbatches: [1, 2, 3]\n");
  return toy / "matrix.yaml";
}

}  // namespace

TEST_CASE("an evaluation is printed with accuracy, latency and cost, and its lock runs it again") {
  const ToyEvaluation toy;
  const std::string what = toy.model() + " --framework reference --scenario closed-loop:users=2 " +
                           "--queries 10 --price 3.6 ";
  const auto run = run_d5("eval run " + what + "--format csv");
  CHECK(run.status == 0);
  CHECK_THAT(run.out, Contains("top1") && Contains("latency") && Contains("cost") &&
                          Contains("closed_loop:users=2"));
  const std::string lock = toy / "e.lock.json";
  CHECK(
      run_d5("eval lock " + toy.model() + " --framework reference --scenario batched --out " + lock)
          .status == 0);
  const auto locked = run_d5("eval run --locked " + lock);
  CHECK(locked.status == 0);
  CHECK_THAT(locked.out, Contains("for a million") && Contains("verdict"));  // the last table's
  CHECK_THAT(run_d5("eval run --queries 3 --locked " + lock).err,
             Contains("fixes what runs and how"));
  toy.write_model("deviation: 128", "deviation: 127");
  const auto drifted = run_d5("eval run --locked " + lock);
  CHECK(drifted.status == 2);
  CHECK_THAT(drifted.err, Contains("was locked"));
}

TEST_CASE("the models of a task, or all, are evaluated by one word") {
  const auto of_task = run_d5("eval run --task image-classification --list --format csv");
  INFO(of_task.err);
  CHECK(of_task.status == 0);
  for (const std::string name :
       {"efficientnet-lite0@", "efficientnet-lite1@", "efficientnet-lite2@"}) {
    CHECK_THAT(of_task.out, Contains(name));
  }
  CHECK_THAT(of_task.out, !Contains("magika"));
  CHECK(run_d5("eval run --task 'image classification' --list --format csv").out == of_task.out);
  // Without a data set only those that claim an accuracy can be judged.
  const auto all = run_d5("eval run all --list --format csv");
  CHECK(all.status == 0);
  CHECK_THAT(all.out, Contains("efficientnet-lite2@") && !Contains("magika"));
  CHECK_THAT(all.err, Contains("left out: ") && Contains("give them one with --dataset NAME"));
  CHECK_THAT(run_d5("eval run all --dataset imagenet-sample --list --format csv").out,
             Contains("magika@") && Contains("centerface@"));
  const auto none = run_d5("eval run --task file-type-detection --list");
  CHECK(none.status == 2);
  CHECK_THAT(none.err, Contains("1 of 1 models claim no accuracy"));
  CHECK_THAT(run_d5("eval run --task file-type-detektion --list").err,
             Contains("did you mean file-type-detection?"));
}

TEST_CASE("what is said replaces the manifest, also where it says what is usual") {
  const ToyEvaluation toy;
  const std::string run = "eval run " + matrix_of(toy) + " --dry-run --format json";
  CHECK_THAT(run_d5(run).out, Contains("sleep:output=means") && Contains("planned, not run"));
  const auto replaced =
      run_d5(run + " --framework reference --seed 0 --batch 2 --scenario batched");
  INFO(replaced.err);
  CHECK_THAT(replaced.out, !Contains("sleep:output=means") && Contains("reference") &&
                               Contains("--batch 2") && !Contains("--batch 1"));
}

TEST_CASE("a cell's command has all that its numbers depend on") {
  const ToyEvaluation toy;
  const std::string out = toy / "r.json";
  REQUIRE(
      run_d5("eval run " + matrix_of(toy) +
             " --batch 2 --scenario closed-loop:users=2 --repetitions 2 --seed 5 --stage-threads 2 "
             "--instances 2 --longest-wait 0.001 --threads 1 --quiet --out " +
             out)
          .status == 0);
  const auto records = d5::read_results(out).measurements;
  REQUIRE(records.size() >= 2);
  CHECK_THAT(
      records.front().command,
      Contains("--scenario closed_loop:users=2 --batch 2 --queries 5 --instances 2 --longest-wait "
               "0.001 --stage-threads 2 --threads 1 --seed 5 --no-accuracy"));
  CHECK_THAT(records.back().command, Contains("--seed 6"));  // the second repetition's
  // Run again, it is the same case.
  const std::string line = records.back().command, again = toy / "again.json";
  REQUIRE(run_d5(line.substr(std::string("d5 ").size()) + " --quiet --out " + again).status == 0);
  const auto same = d5::read_results(again).measurements;
  REQUIRE_FALSE(same.empty());
  for (const auto& record : same) CHECK(record.command == line);
  for (const auto& [name, condition] : records.back().conditions) {
    INFO(name);
    if (condition.role == d5::Role::identity) CHECK(same.back().conditions.at(name) == condition);
  }
}

TEST_CASE("a crash, or no answer in time, is a failed row of the program") {
  const ToyEvaluation toy;
  const auto run = run_d5("eval run " + toy.model() + " --no-accuracy --scenario batched " +
                          "--framework faulty:how=crash:output=means:classes=3:after=1,reference " +
                          "--isolate 60 --format csv");
  CHECK(run.status == 1);
  CHECK_THAT(run.out, Contains("SIGSEGV") && Contains("reference"));
}

TEST_CASE("find-peak finds and prints the highest rate") {
  const ToyEvaluation toy;
  const auto run = run_d5("eval find-peak " + toy.model() +
                          " --framework null:output=means:classes=3 --slo 'p50<=5s' --scenario "
                          "constant --queries 20 --first-rate 100 --highest-rate 100 --format csv");
  CHECK(run.status == 0);
  CHECK_THAT(run.out, Contains("peak_rate") && Contains("holds"));
  CHECK(run_d5("eval find-peak " + toy.model() + " --slo fast").status == 2);
}

TEST_CASE("find-peak says how long it may take, and keeps what it decided when it is ended") {
  const ToyEvaluation toy;
  const std::string out = toy / "peak.json", said = toy / "said";
  // Each rate takes a second or more; nothing misses.
  const d5::testing::BackgroundRun run(
      "eval find-peak " + toy.model() +
          " --framework null:output=means:classes=3 --slo 'p50<=5s' --scenario constant "
          "--queries 20 --seconds 1 --first-rate 100 --out " +
          out,
      (toy / "printed") + " 2>" + said);
  const int status = run.end(
      SIGTERM, [&] { return Contains("200 query/s holds").match(d5::testing::content_of(said)); });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 143);
  const std::string text = d5::testing::content_of(said);
  CHECK_THAT(text, Contains("find-peak: at most ") && Contains(" s of queries"));
  CHECK_THAT(text, Contains("asks 100 query/s for 1 s; then at most "));
  const auto records = d5::read_results(out).measurements;
  REQUIRE(records.size() >= 3);
  CHECK(records[0].metric == "peak_rate");
  CHECK(records[0].status == d5::Status::mistrusted);
  CHECK(records[0].samples.at(0) >= 200);
  CHECK_THAT(records[0].reason, Contains("interrupted"));
  CHECK(records[1].metric == "latency_at_rate");
  const auto limited =
      run_d5("eval find-peak " + toy.model() +
             " --framework null:output=means:classes=3 --slo 'p50<=5s' --scenario "
             "constant --queries 20 --seconds 1 --first-rate 100 --most-seconds 1.5 --format csv");
  CHECK_THAT(limited.err, Contains("at most 2 s of queries"));
  CHECK_THAT(limited.out, Contains("time of 1.5 s is over"));
}

TEST_CASE("a cost is printed with its currency, and says what it is of") {
  const ToyEvaluation toy;
  const std::string what = "eval run " + toy.model() +
                           " --framework null:output=means:classes=3 --no-accuracy --queries 5 ";
  const auto run = run_d5(what + "--price 3.6 --currency CHF");
  CHECK_THAT(run.out, Contains("a million predictions") && Contains(" CHF "));
  CHECK_THAT(run_d5(what + "--price 3.6").out, Contains(" USD "));
  CHECK_THAT(run_d5(what + "--price 3.6 --currency francs").err, Contains("three letters"));
}

TEST_CASE("a step of one's own is refused with the way to allow it") {
  const ToyEvaluation toy;
  toy.write_model("- decode", "- decode\n  - {name: python, function: 'mine.py::f'}");
  CHECK_THAT(run_d5("eval lint " + toy.model()).out, Contains("--allow-code"));
}

TEST_CASE("Ctrl-C ends LoadGen's run as any other, and says how to go on") {
  const ToyEvaluation toy;
  const std::string printed = toy / "printed", out = toy / "cut.json";
  // 600 queries, ten a second: a minute in which nothing of a framework runs.
  const d5::testing::BackgroundRun run(
      "eval run " + toy.model() +
          " --framework null:output=means:classes=3 --no-accuracy --scenario " +
          "batched,server:rate=10,batched:batch=2 --queries 600 --out " + out,
      printed + " 2>" + (toy / "said"));
  const int status =
      run.end(SIGINT, [&] { return Contains("latency").match(d5::testing::content_of(printed)); });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 130);
  CHECK_THAT(d5::testing::content_of(toy / "said"), Contains("--resume continues from here"));
  const d5::Results results = d5::read_results(out);
  REQUIRE(results.run);
  CHECK(results.run->pieces.size() == 1);  // what was done before
}

TEST_CASE(
    "a matrix that is killed at any moment is whole once it was resumed, and holds nothing "
    "twice") {
  const ToyEvaluation toy;
  const std::string line = "eval run " + matrix_of(toy) + " --quiet --out ";
  constexpr int kMoments = 10;  // benchmarks/killed_evaluations.py does it at 200
  int killed = 0;
  for (int i = 0; i < kMoments; ++i) {
    const std::string number = std::to_string(i);
    const std::string kept =
        line + (toy / (number + ".json")) + " --database " + (toy / (number + ".db"));
    const std::string seconds = std::to_string(0.02 + 0.05 * i);
    killed += run_d5(kept, "timeout -s KILL " + seconds).status != 0 ? 1 : 0;
    const auto resumed = run_d5(kept + " --resume");
    INFO("killed after " << seconds << " s: " << resumed.err);
    CHECK(resumed.status == 0);
    const d5::Results results = d5::read_results(toy / (number + ".json"));
    REQUIRE(results.run);
    CHECK(results.run->pieces.size() == 6);
    const auto latencies =
        std::ranges::count(results.measurements, "latency", &d5::Measurement::metric);
    CHECK(latencies > 0);
    CHECK(latencies % 6 == 0);
    const auto database = d5::EvaluationDatabase::open(toy / (number + ".db"));
    const auto runs = database->runs();
    REQUIRE(runs.size() == 1);
    CHECK(std::ranges::count(database->pieces(runs[0].id), "measurements",
                             &d5::StoredPiece::kind) == 6);
    CHECK_FALSE(std::filesystem::exists(toy / (number + ".json.journal.run")));
  }
  CHECK(killed > 0);
}

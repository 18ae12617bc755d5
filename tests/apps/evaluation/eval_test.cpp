// SPDX-License-Identifier: Apache-2.0
// d5 eval history, show, query, export, import, choose, compare, and --database of every command.
#include <filesystem>

#include "d5/core/results/results.hpp"
#include "tests/apps/program_run.hpp"
#include "tests/core/sample_results.hpp"
#include "tests/evaluation/sample_evaluation.hpp"

using Catch::Contains;
using d5::testing::run_d5;
using d5::testing::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

/// A database, as `--database` takes it, and files beside it.
struct KeptFolder : TemporaryFolder {
  std::string database = " --database " + *this / "kept.db";

  [[nodiscard]] std::string import(const d5::Results& results, const std::string& name) const {
    d5::write_results(results, *this / name);
    const auto run = run_d5("eval import " + *this / name + database);
    REQUIRE(run.status == 0);
    return run.out.substr(0, run.out.find('\n'));
  }
};

}  // namespace

TEST_CASE("any command's results can be kept, with --out or without") {
  const KeptFolder folder;
  const auto run = run_d5("op bench \"Relu 4\" --samples 3" + folder.database);
  CHECK(run.status == 0);
  CHECK_THAT(run.out, Contains("Relu"));
  CHECK_THAT(run.err, Contains("kept as run ") && !Contains("results written"));
  CHECK(run_d5("op bench \"Relu 5\" --samples 3 --quiet --out " + (folder / "r.json") +
               folder.database)
            .err.empty());
  const auto history = run_d5("eval history" + folder.database);
  CHECK(history.status == 0);
  CHECK_THAT(history.out, Contains("Relu 4") && Contains("Relu 5"));
  // The file has what the database has: importing it adds no run.
  CHECK(run_d5("eval import " + (folder / "r.json") + folder.database).status == 0);
  CHECK(run_d5("eval query --sql \"SELECT COUNT(*) AS n FROM run\" --format csv" + folder.database)
            .out == "n\r\n2\r\n");
}

TEST_CASE("nothing is measured if its records cannot be kept") {
  const KeptFolder folder;
  d5::testing::write(folder / "text", std::string(4000, 'x'));
  const auto run = run_d5("op bench \"Relu 4\" --samples 3 --database " + (folder / "text"));
  CHECK(run.status == 2);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, Contains("text"));
  CHECK(run_d5("eval history --database " + (folder / "none.db")).status == 2);
  CHECK_FALSE(fs::exists(folder / "none.db"));
}

TEST_CASE("a run is shown, exported and imported as it was measured") {
  const KeptFolder folder;
  const d5::Results results = d5::testing::some_results();
  const std::string id = folder.import(results, "r.json");
  const auto shown = run_d5("eval show " + id.substr(0, 6) + " --format json" + folder.database);
  CHECK(d5::to_json(d5::results_from_json(shown.out, "shown")) == d5::to_json(results));
  CHECK(run_d5("eval export " + id + " --to " + (folder / "again.json") + folder.database).status ==
        0);
  CHECK(d5::testing::content_of(folder / "again.json") == d5::to_json(results));
  CHECK(run_d5("eval export --all --to " + (folder / "other.db") + folder.database).status == 0);
  const auto other =
      run_d5("eval show " + id + " --format json --database " + (folder / "other.db"));
  CHECK(other.out == shown.out);
  CHECK_THAT(run_d5("eval show " + id + " --pieces" + folder.database).out, Contains("results"));
  const auto none = run_d5("eval show ffff" + folder.database);
  CHECK(none.status == 2);
  CHECK_THAT(none.err, Contains("no run 'ffff'"));
  CHECK(run_d5("eval show " + id + " --answers x" + folder.database).status == 2);
}

TEST_CASE("a database given in place of a results file is an error that says how to make one") {
  const KeptFolder folder;
  REQUIRE(run_d5("op bench \"Relu 4\" --samples 3" + folder.database).status == 0);
  const std::string file = folder / "kept.db";
  for (const std::string& command : {"report " + file, "compare " + file + " " + file}) {
    const auto run = run_d5(command);
    CHECK(run.status == 2);
    CHECK_THAT(run.err, Contains("d5 eval export RUN --database " + file));
  }
}

TEST_CASE("records are asked for by what they say, and SQL only reads") {
  const KeptFolder folder;
  (void)folder.import(d5::testing::some_results(), "r.json");
  const auto torch =
      run_d5("eval query --framework torch --metric time --format csv" + folder.database);
  CHECK_THAT(torch.out, Contains("torch") && !Contains("reference"));
  CHECK(run_d5("eval query --sql \"DELETE FROM run\"" + folder.database).status == 2);
  CHECK(run_d5("eval query --sql \"SELECT 1\" --metric time" + folder.database).status == 2);
}

TEST_CASE("the best version of a model over time is said") {
  const KeptFolder folder;
  int day = 0;
  for (const double seconds : {3e-3, 2e-3, 4e-3}) {
    d5::Results results{d5::testing::an_environment(),
                        d5::testing::records_of({"torch", 1, seconds, 1 / seconds, 0.9})};
    results.environment.time = "2026-11-0" + std::to_string(++day) + "T00:00:00Z";
    for (auto& record : results.measurements) {
      record.subject = "lenet@1." + std::to_string(day) + ".0";
    }
    (void)folder.import(results, "r" + std::to_string(day) + ".json");
  }
  const auto run =
      run_d5("eval history \"lenet@*\" --metric latency --format csv" + folder.database);
  CHECK(run.status == 0);
  const auto best = run.out.find(",best,passed");
  REQUIRE(best != run.out.npos);
  const auto line = run.out.rfind('\n', best);
  CHECK_THAT(run.out.substr(line, best - line), Contains("lenet@1.2.0"));
  const auto plot =
      run_d5("eval history \"lenet@*\" --metric latency --format svg" + folder.database);
  CHECK_THAT(plot.out, Contains("<svg") && Contains("latency over time"));
}

TEST_CASE("the cheapest that is accurate and fast enough is chosen, or nothing") {
  const TemporaryFolder folder;
  const auto run = d5::testing::sample_run({{"torch", 1, 1e-3, 100, 0.9},
                                            {"torch", 8, 1e-2, 400, 0.9},
                                            {"reference", 1, 4e-3, 50, 0.7}});
  d5::write_results(run.results, folder / "r.json");
  const std::string choose = "eval choose " + (folder / "r.json") + " --accuracy \">=0.75\" ";
  const auto cheap = run_d5(choose + "--minimise cost --price 0.36 --format csv");
  CHECK(cheap.status == 0);
  CHECK_THAT(cheap.out, Contains("1,torch batch 8,") && Contains("2,torch batch 1,"));
  const auto fast = run_d5(choose + "--p99 \"<=150ms\" --minimise cost --price 0.36 --format csv");
  CHECK(fast.status == 0);
  CHECK_THAT(fast.out, Contains("1,torch batch 1,") && Contains("p99 <= 150 ms"));
  CHECK(run_d5(choose + "--p99 \"<=1us\" --minimise p99").status == 1);
  CHECK(run_d5(choose).status == 2);
  CHECK(run_d5(choose + "--minimise beauty").status == 2);
  CHECK(run_d5("eval choose " + (folder / "r.json") + " --p99 fast --minimise p99").status == 2);
}

TEST_CASE("two networks are compared down to the layers that differ") {
  const KeptFolder folder;
  std::string ids;
  for (const std::string batch : {"1", "8"}) {
    REQUIRE(run_d5("net bench lenet --profile --samples 5 --batch " + batch + " --out " +
                   (folder / (batch + ".json")))
                .status == 0);
    const auto kept = run_d5("eval import " + (folder / (batch + ".json")) + folder.database);
    ids += kept.out.substr(0, kept.out.find('\n')) + " ";
  }
  const std::string files = (folder / "1.json") + " " + (folder / "8.json");
  const auto layers = run_d5("eval compare " + files + " --layers --most 20 --format csv");
  CHECK(layers.status == 0);
  CHECK_THAT(layers.out, Contains("Conv") && Contains("all together"));
  const auto stored = " --layers --most 20 --format csv" + folder.database;
  CHECK(run_d5("eval compare " + ids + stored).out == layers.out);
  CHECK(run_d5("eval compare " + (folder / "1.json") + ids.substr(ids.find(' ')) + stored).out ==
        layers.out);
  CHECK(run_d5("eval compare " + files).status == 0);
  const auto analysis = run_d5("report " + (folder / "8.json") + " --analysis layers:by=type");
  CHECK(analysis.status == 0);
  CHECK_THAT(analysis.out, Contains("Conv"));
  const auto nothing = run_d5("report " + (folder / "8.json") + " --analysis latency");
  CHECK(nothing.status == 2);
  CHECK_THAT(run_d5("report " + (folder / "8.json") + " --analysis laeyrs").err,
             Contains("layers"));
  const auto dashed = run_d5("report " + (folder / "8.json") + " --analysis batch-scaling");
  CHECK_THAT(dashed.err, !Contains("is unknown"));
}

TEST_CASE("the page of an evaluation has its analyses") {
  const TemporaryFolder folder;
  const auto run = d5::testing::sample_run({{"torch", 1, 1e-3, 100, 0.9},
                                            {"torch", 8, 1e-2, 400, 0.9},
                                            {"onnxruntime", 1, 2e-3, 50, 0.8}});
  d5::write_results(run.results, folder / "r.json");
  const auto page = run_d5("report " + (folder / "r.json") + " --format html");
  CHECK_THAT(page.out, Contains("Throughput by batch") && Contains("Accuracy over latency"));
}

// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "d5/core/files/atomic_file.hpp"
#include "d5/core/results/results.hpp"
#include "d5/core/trace/timeline.hpp"
#include "d5/prediction/graph/operation_graph_file.hpp"
#include "tests/apps/program_run.hpp"
#include "tests/temporary_folder.hpp"

namespace d5::testing {
namespace {

using Catch::Contains;

/// The execution trace of a step that costs tell, on 4 ranks, in a folder.
class StepTrace : public TemporaryFolder {
 public:
  StepTrace() {
    const std::string profile = *this / "p.json";
    run("profile lenet --batch 8 --from-cost 10ms --quiet --out " + profile);
    run("predict " + profile + " --ranks 4 --quiet --graph " + file());
  }
  [[nodiscard]] std::string file() const { return *this / "step.0.et"; }

 private:
  static void run(const std::string& words) {
    const auto done = run_d5(words);
    INFO(done.err);
    REQUIRE(done.status == 0);
  }
};

TEST_CASE("what was imported stands above a trace's prediction, and files have both") {
  const StepTrace trace;
  const auto run = run_d5("predict " + trace.file() + " --ranks 1,4 --out " + (trace / "r.json") +
                          " --graph " + (trace / "g.json") + " --trace " + (trace / "t.json"));
  INFO(run.err);
  REQUIRE(run.status == 0);
  CHECK_THAT(run.out, Contains("an execution trace of") && Contains("all_reduce") &&
                          Contains("replay") && Contains("predicted step"));
  CHECK(run.out.find("replay") < run.out.find("predicted step"));
  CHECK_THAT(run.out, !Contains("nan") && !Contains("alpha"));
  std::vector<double> seconds;
  for (const auto& record : read_results(trace / "r.json").measurements) {
    if (record.metric == "predicted_time") seconds.push_back(record.samples.at(0));
  }
  REQUIRE(seconds.size() == 2);
  CHECK(seconds[0] == Approx(0.010));
  CHECK(seconds[1] > seconds[0]);
  CHECK(read_operation_graph(trace / "g.json").size() > 10);
  CHECK(read_timeline(trace / "t.json").records.size() > 10);
  const auto json = run_d5("predict " + trace.file() + " --ranks 4 --format json");
  CHECK(json.out.starts_with("{"));  // nothing stands before the records
}

TEST_CASE("a trace is replayed: what trains or simulates ranks is refused") {
  const StepTrace trace;
  for (const std::string option :
       {"--measure 1", "--strong", "--model ports", "--every-rank", "--map m.json"}) {
    const auto run = run_d5("predict " + trace.file() + " --ranks 2 " + option);
    INFO(option);
    CHECK(run.status == 2);
    CHECK_THAT(run.err, Contains(option.substr(0, option.find(' '))) && Contains("is replayed"));
    CHECK(run.out.empty());
  }
  const auto buckets = run_d5("predict " + trace.file() + " --strategy buckets:bytes=1MiB");
  CHECK(buckets.status == 2);
  CHECK_THAT(buckets.err, Contains("the strategies compute and wire"));
  write_file(trace / "cut.0.et", read_file(trace.file()).substr(0, 100));
  const auto cut = run_d5("predict " + (trace / "cut.0.et"));
  CHECK(cut.status == 2);
  CHECK_THAT(cut.err, Contains("cut.0.et") && Contains("cut off"));
}

TEST_CASE("a profile's graph is written as an execution trace, too") {
  const TemporaryFolder folder;
  const auto run =
      run_d5("profile lenet --batch 8 --from-cost 10ms --quiet --graph " + (folder / "one.0.et"));
  INFO(run.err);
  REQUIRE(run.status == 0);
  const auto predicted = run_d5("predict " + (folder / "one.0.et") + " --ranks 2 --format csv");
  CHECK(predicted.status == 0);
}

}  // namespace
}  // namespace d5::testing

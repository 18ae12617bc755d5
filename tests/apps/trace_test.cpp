// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "d5/core/timeline.hpp"
#include "d5/level3_distributed/communicator.hpp"
#include "tests/apps/program_run.hpp"

using namespace d5;
using Catch::Contains;
using d5::testing::run_d5;
using testing::TemporaryFolder;

namespace {

/// Three steps of LeNet.
constexpr const char* kTrain =
    "train mnist-lenet-quick --quiet --set training.most_batches=3 --set training.epochs=1 "
    "--set sampler.batch_size=4 --trace ";

bool has(const Timeline& timeline, int rank, const std::string& level, const std::string& name) {
  return std::ranges::any_of(timeline.records, [&](const TraceRecord& record) {
    return record.rank == rank && record.level == level && record.name == name;
  });
}

}  // namespace

TEST_CASE("every command that runs something writes a timeline") {
  const auto [arguments, level, name] = GENERATE(table<std::string, std::string, std::string>({
      {"op check 'Relu 2x3'", "operator", "Relu backward"},
      {"op bench 'Relu 2x3' --pass forward --samples 2", "operator", "Relu"},
      {"net check lenet", "network", "inference_and_backprop"},
      {"net run lenet", "network", "inference"},
      {"net bench lenet --samples 2", "network", "inference"},
      {"compare 'Relu 2' 'Relu 3' --samples 2", "operator", "Relu"},
  }));
  const TemporaryFolder folder;
  INFO(arguments);
  const auto run = run_d5(arguments + " --quiet --trace " + (folder / "trace.json"));
  INFO(run.err);
  REQUIRE(run.status == 0);
  CHECK(has(read_timeline(folder / "trace.json"), 0, level, name));
}

TEST_CASE("two ranks' training is one timeline: steps, data, updates and requests under way") {
  if (!transport().present) return;
  const TemporaryFolder folder;
  const auto run = run_d5(kTrain + (folder / "trace.json"), "mpirun --oversubscribe -np 2");
  INFO(run.err);
  // Three batches do not reach the accuracy that the recipe accepts.
  REQUIRE(run.status == 1);
  const Timeline timeline = read_timeline(folder / "trace.json");
  std::set<int> ranks;
  for (const auto& rank : timeline.ranks) {
    ranks.insert(rank.rank);
    CHECK(rank.dropped == 0);
    CHECK(rank.clock == ClockOffset{});
  }
  CHECK(ranks == std::set{0, 1});
  std::map<int, std::int64_t> trained_from, trained_to;
  for (const int rank : ranks) {
    INFO("rank " << rank);
    CHECK(has(timeline, rank, "training", "epoch"));
    CHECK(has(timeline, rank, "training", "update"));
    CHECK(has(timeline, rank, "training", "loss"));
    CHECK(has(timeline, rank, "data", "next batch"));
    CHECK(has(timeline, rank, "network", "inference_and_backprop"));
    CHECK(std::ranges::count_if(timeline.records, [&](const TraceRecord& record) {
            return record.rank == rank && record.name == "batch";
          }) == 3);
    const auto all_reduce = std::ranges::find_if(timeline.records, [&](const TraceRecord& record) {
      return record.rank == rank && record.name == "all_reduce" &&
             record.kind == TraceRecord::Kind::overlapping;
    });
    REQUIRE(all_reduce != timeline.records.end());
    CHECK(all_reduce->level == "communication");
    for (const auto& record : timeline.records) {
      if (record.rank != rank || record.name != "training") continue;
      trained_from[rank] = record.begin_ns;
      trained_to[rank] = record.end_ns;
    }
  }
  // They trained together: on one clock.
  CHECK(trained_from[0] < trained_to[1]);
  CHECK(trained_from[1] < trained_to[0]);
}

TEST_CASE("a trace that cannot be written is told before anything runs, on every rank") {
  const auto alone = run_d5(std::string(kTrain) + "/no/such/folder/trace.json");
  CHECK(alone.status == 2);
  CHECK_THAT(alone.err, Contains("--trace: cannot write '/no/such/folder/trace.json'"));
  CHECK(alone.out.empty());
  if (!transport().present) return;
  const auto ranks =
      run_d5(std::string(kTrain) + "/no/such/folder/trace.json", "mpirun --oversubscribe -np 2");
  CHECK(ranks.status == 2);
  CHECK_THAT(ranks.err, Contains("rank 0: --trace: cannot write") &&
                            Contains("rank 1: --trace: rank 0 cannot write"));
}

TEST_CASE("bad usage leaves no trace; a run that fails half-way leaves what it did") {
  const TemporaryFolder folder;
  const std::string file = folder / "trace.json";
  CHECK(run_d5("net run no-such-network --trace " + file).status == 2);
  CHECK_FALSE(std::filesystem::exists(file));
  CHECK(run_d5("op bench 'Relu 2' --samples 2 --pivot no_such_column --trace " + file).status == 2);
  CHECK(has(read_timeline(file), 0, "operator", "Relu"));
}

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "d5/core/trace/timeline.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
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

/// A file held against the Trace Event Format: what viewers need to draw it. Source: "Trace Event
/// Format", the document that Chrome's and Perfetto's readers are written to.
class FormatCheck {
 public:
  explicit FormatCheck(const std::string& file)
      : document_(nlohmann::json::parse(testing::content_of(file))) {
    for (const auto& event : document_.at("traceEvents")) check(event);
    CHECK(begun_.empty());  // every begin has its end
    for (const auto& lane : used_) CHECK(named_.contains(lane));
  }
  [[nodiscard]] std::size_t spans(const std::string& category, const std::string& name) const {
    const auto place = spans_.find({category, name});
    return place == spans_.end() ? 0 : place->second;
  }
  [[nodiscard]] std::size_t overlapping() const { return overlapping_; }

 private:
  using Event = nlohmann::json;
  using Lane = std::pair<std::int64_t, std::int64_t>;

  void check(const Event& event) {
    const std::string phase = event.at("ph");
    const std::string name = event.at("name");
    const Lane lane{event.at("pid"), event.at("tid")};
    CHECK_FALSE(name.empty());
    if (phase == "M") {
      CHECK(event.at("args").at("name").is_string());
      if (name == "thread_name") named_.insert(lane);
      return;
    }
    used_.insert(lane);
    const double at = event.at("ts");
    CHECK(at >= 0);
    CHECK(event.at("cat").is_string());
    if (phase == "X") return check_span(event, lane, at);
    if (phase == "C") {
      for (const auto& [key, value] : event.at("args").items()) CHECK(value.is_number());
      return;
    }
    REQUIRE((phase == "b" || phase == "e"));
    const std::string id = event.at("id2").at("local");
    const auto key = std::tuple(lane.first, std::string(event.at("cat")), name, id);
    if (phase == "b") {
      CHECK(begun_.emplace(key, at).second);
      ++overlapping_;
    } else {
      REQUIRE(begun_.contains(key));
      CHECK(begun_.extract(key).mapped() <= at);
    }
  }

  /// Those of a lane come in order, and end within the one around them.
  void check_span(const Event& event, const Lane& lane, double at) {
    constexpr double kRounding = 1e-3;  // a microsecond has three decimals
    const double end = at + double(event.at("dur"));
    CHECK(end >= at);
    auto& [last, open] = open_[lane];
    CHECK(at >= last);
    last = at;
    while (!open.empty() && open.back() <= at + kRounding / 2) open.pop_back();
    if (!open.empty()) CHECK(end <= open.back() + kRounding);
    open.push_back(end);
    ++spans_[{event.at("cat"), event.at("name")}];
  }

  nlohmann::json document_;
  std::set<Lane> named_, used_;
  std::map<std::tuple<std::int64_t, std::string, std::string, std::string>, double> begun_;
  std::map<Lane, std::pair<double, std::vector<double>>> open_;  ///< last begin; ends of spans
  std::map<std::pair<std::string, std::string>, std::size_t> spans_;
  std::size_t overlapping_ = 0;
};

}  // namespace

TEST_CASE("a timeline keeps the rules of its format: networks, nodes, both ways, on each thread") {
  const TemporaryFolder folder;
  const std::string file = folder / "trace.json";
  const auto run =
      run_d5("net bench lenet --training --profile --samples 2 --quiet --trace " + file);
  REQUIRE(run.status == 0);
  const FormatCheck check(file);
  const auto steps = check.spans("network", "inference_and_backprop");
  CHECK(steps > 2);
  CHECK(check.spans("operator", "Conv 'conv1'") == steps + check.spans("network", "inference"));
  CHECK(check.spans("operator", "Conv 'conv1' backward") == steps);
}

TEST_CASE("stderr names the timeline's file") {
  const TemporaryFolder folder;
  const std::string file = folder / "trace.json";
  const auto run = run_d5("op check 'Relu 2x3' --trace " + file);
  CHECK_THAT(run.err, Catch::Contains("trace written to " + file));
  CHECK(run_d5("op check 'Relu 2x3' --quiet --trace " + file).err.empty());
}

TEST_CASE("a timeline of ranks keeps the rules of its format, with requests under way") {
  if (!transport().present) return;
  const TemporaryFolder folder;
  const std::string file = folder / "trace.json";
  REQUIRE(run_d5(kTrain + file, "mpirun --oversubscribe -np 2").status == 1);  // not yet accurate
  CHECK(FormatCheck(file).overlapping() > 0);
}

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
  const auto run = run_d5(
      kTrain + (folder / "trace.json") + " --distributed consistent_decentralized:all_reduce=mpi",
      "mpirun --oversubscribe -np 2");
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

TEST_CASE("a trace that cannot be written is reported once, before anything runs") {
  const auto alone = run_d5(std::string(kTrain) + "/no/such/folder/trace.json");
  CHECK(alone.status == 2);
  CHECK_THAT(alone.err, Contains("--trace: cannot write '/no/such/folder/trace.json'"));
  CHECK(alone.out.empty());
  if (!transport().present) return;
  const auto ranks =
      run_d5(std::string(kTrain) + "/no/such/folder/trace.json", "mpirun --oversubscribe -np 2");
  CHECK(ranks.status == 2);
  CHECK_THAT(ranks.err, Contains("rank 0: --trace: cannot write") && !Contains("rank 1: "));
}

TEST_CASE("bad usage leaves no trace; a run that fails half-way leaves what it did") {
  const TemporaryFolder folder;
  const std::string file = folder / "trace.json";
  CHECK(run_d5("net run no-such-network --trace " + file).status == 2);
  CHECK_FALSE(std::filesystem::exists(file));
  CHECK(run_d5("op bench 'Relu 2' --samples 2 --pivot no_such_column --trace " + file).status == 2);
  CHECK(has(read_timeline(file), 0, "operator", "Relu"));
}

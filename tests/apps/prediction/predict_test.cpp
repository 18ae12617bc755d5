// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/machine/machine.hpp"
#include "d5/core/numbers/duration.hpp"
#include "d5/core/results/results.hpp"
#include "d5/core/trace/timeline.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/prediction/networks/cluster_description.hpp"
#include "d5/prediction/profile/training_profile.hpp"
#include "tests/apps/program_run.hpp"
#include "tests/temporary_folder.hpp"

namespace d5::testing {
namespace {

/// A profile that costs tell, in a folder.
class CostProfile : public TemporaryFolder {
 public:
  CostProfile() {
    const auto run = run_d5("profile lenet --batch 8 --from-cost 10ms --quiet --out " + file());
    INFO(run.err);
    REQUIRE(run.status == 0);
  }
  [[nodiscard]] std::string file() const { return *this / "p.json"; }
};

TEST_CASE("a profile's curve is printed, drawn and written, a record a number of ranks") {
  const CostProfile profile;
  const std::string out = profile / "curve.json";
  const auto run = run_d5("predict " + profile.file() + " --batch 8 --ranks 1..4 --quiet --out " +
                          out + " --pictures " + (profile / "pictures"));
  INFO(run.err);
  REQUIRE(run.status == 0);
  CHECK_THAT(run.out, Catch::Contains("predicted step") && Catch::Contains("efficiency"));
  std::vector<double> seconds;
  for (const auto& record : read_results(out).measurements) {
    CHECK(record.level == "prediction");
    if (record.metric == "predicted_time") seconds.push_back(record.samples.at(0));
  }
  REQUIRE(seconds.size() == 3);
  CHECK(seconds[0] == Approx(0.010));
  CHECK(seconds[1] > seconds[0]);
  CHECK(std::filesystem::exists(profile / "pictures/prediction.svg"));
}

TEST_CASE("a prediction without a batch takes the profile's only one, and never one of several") {
  const CostProfile profile;
  const auto run = run_d5("predict " + profile.file() + " --ranks 1,2 --quiet --format csv --out " +
                          (profile / "curve.json"));
  INFO(run.err);
  REQUIRE(run.status == 0);
  for (const auto& record : read_results(profile / "curve.json").measurements) {
    CHECK(record.conditions.at("batch") == "8");
    CHECK(record.status == Status::passed);
  }
  TrainingProfile two = read_training_profile(profile.file());
  two.batches.push_back(two.batches[0]);
  two.batches[1].batch = 24;
  write_training_profile(two, profile / "two.json");
  const auto unclear = run_d5("predict " + (profile / "two.json") + " --ranks 1,2 --quiet");
  CHECK(unclear.status == 2);
  CHECK_THAT(unclear.err, Catch::Contains("2 batch sizes (8, 24); choose one with --batch"));
}

TEST_CASE("the reasons of mistrusted rows stand below the table, each once") {
  const CostProfile profile;
  const auto run = run_d5("predict " + profile.file() + " --batch 64 --ranks 1..4 --quiet");
  INFO(run.err);
  REQUIRE(run.status == 0);
  CHECK_THAT(run.out, Catch::Contains("mistrusted [1]"));
  CHECK_THAT(run.out, Catch::EndsWith("\n\n[1] a batch of 64 is outside the profiled range\n"));
}

TEST_CASE("a prediction that is impossible is an error, with status 2") {
  const CostProfile profile;
  const auto [options, says] = GENERATE(table<std::string, std::string>({
      {"--ranks 0", "expected numbers of 1 to"},
      {"--ranks 8..2", "8 is above 2; give 2..8"},
      {"--model formula --trace t.json", "--model formula simulates none"},
      {"--model formulae", "formulae"},
      {"--ranks 1,3 --strong", "3 ranks cannot share a batch of 8"},
      {"--cluster ethernet-10gb", "ethernet-10g"},
      {"--ranks 1,2 --measure 1", "needs the model itself"},
      {"--strategy compute:factor=0", "factor"},
      {"--strategy faster", "faster"},
      {"--distributed consistent_decentralised", "consistent_decentralized"},
      {"--ranks 5000", "room for 4096 ranks"},
      {"--ranks -4", "expected numbers of 1 to"},
      {"--ranks 1000001", "expected numbers of 1 to"},
      {"--model port", "ports"},
      {"--budget 1B", "budget"},
      {"--budget soon", "soon"},
  }));
  const auto run = run_d5("predict " + profile.file() + " --batch 8 --quiet " + options);
  INFO(options << ": " << run.err);
  CHECK(run.status == 2);
  CHECK_THAT(run.err, Catch::Contains(says));
}

/// In a folder for --keep, so that none is calibrated: of two ranks.
void keep_cluster(const std::string& file) {
  ClusterDescription cluster;
  cluster.name = "made up";
  cluster.hosts = 2;
  cluster.latency = {1e-3, "made up"};
  cluster.bandwidth = {1e9, "made up"};
  write(file, to_yaml(cluster));
}

TEST_CASE("an option that would change nothing is refused") {
  const CostProfile profile;
  const std::vector<std::pair<std::string, std::string>> refused{
      {"predict " + profile.file() + " --wire 9us,2GB/s --cluster ethernet-10g", "leave one out"},
      {"predict " + profile.file() + " --optimizer adam --threads 1",
       "--optimizer, --threads beside"},
      {"profile lenet --switch 10ms", "--switch are of --from-cost"},
      {"profile lenet --from-cost 10ms --copies 4", "leave out --copies and --launches"},
      {"cluster show ethernet-10g --ranks 2 --all-reduce auto", "name those to compare"},
      {"predict " + profile.file() + " --nodes 2", "--nodes"},
      {"predict " + profile.file() + " --ranks 2 --graph " + (profile / "g.xyz"),
       ".json, .dot, .svg"}};
  for (const auto& [line, says] : refused) {
    const auto run = run_d5(line);
    CAPTURE(line, run.out);
    CHECK(run.status == 2);
    CHECK_THAT(run.err, Catch::Contains(says));
  }
}

TEST_CASE("times of real ranks stand beside the predicted ones") {
  if (!transport().present) return;
  const TemporaryFolder folder;
  keep_cluster(folder / "network-this-machine--wire-1ms-1GB-s-2.yaml");
  const std::string out = folder / "curve.json";
  const auto run = run_d5(
      "predict lenet --batch 2 --steps 3 --least-time 0s --ranks 1,2 --measure 1,2 --launches "
      "2 --wire 1ms,1GB/s --quiet --format table --keep " +
      (folder / ".") + " --out " + out);
  INFO(run.err);
  REQUIRE(run.status == 0);
  CHECK_THAT(run.out, Catch::Contains("measured") && Catch::Contains("error"));
  int measured = 0;
  for (const auto& record : read_results(out).measurements) {
    if (record.metric != "time") continue;
    ++measured;
    CHECK(record.samples.size() == 2);  // a launch each
    // Two rounds of a ring's messages show, a millisecond each.
    if (record.conditions.at("ranks") == "2") CHECK(record.samples.front() > 2e-3);
  }
  CHECK(measured == 2);
  // Two launches of one copy and of two, which the cluster's curve uses as well.
  const auto kept = [&](const std::string& which) {
    return read_training_profile(folder / ("profile-lenet-batch-2-" + which + ".json"));
  };
  CHECK(kept("1-launch-1").copies == 1);
  CHECK(kept("2-launch-2").copies == 2);
  for (const std::string& reason : kept("2-launch-1").mistrusted) {
    CHECK_THAT(reason, !Catch::Contains("fewer than"));  // which all launches are judged by
  }
  const auto changed =
      run_d5("predict lenet --batch 2 --least-time 0s --measure 2 --strategy compute --quiet");
  CHECK(changed.status == 2);
  CHECK_THAT(changed.err, Catch::Contains("give --ranks of a cluster"));
}

TEST_CASE("profiles and networks are kept, and a trace shows measured above predicted") {
  if (!transport().present) return;
  const TemporaryFolder folder;
  const std::string command =
      "predict lenet --batch 2 --steps 3 --least-time 0s --measure 2 --launches 1 --quiet --keep " +
      (folder / "kept") + " --trace " + (folder / "trace.json");
  const auto run = run_d5(command);
  INFO(run.err);
  REQUIRE(run.status == 0);
  const Timeline timeline = read_timeline(folder / "trace.json");
  CHECK(timeline.ranks.size() == 2);
  bool measured = false, predicted = false;
  for (const TraceLane& lane : timeline.lanes) {
    measured = measured || lane.name.starts_with("measured");
    predicted = predicted || lane.name.starts_with("predicted");
  }
  CHECK(measured);
  CHECK(predicted);
  CHECK(std::filesystem::exists(folder / "kept/profile-lenet-batch-2-2.json"));
  CHECK(std::filesystem::exists(folder / "kept/network-this-machine-2.yaml"));
  if (detail::machine().allowed.size() > 1) {  // they do not apply to another number of threads
    const auto other = run_d5(command + " --threads 2");
    CHECK(other.status == 2);
    CHECK_THAT(other.err, Catch::Contains("1 threads, not 2"));
  }
  // Nor one of another machine, unless it is asked for.
  const std::string kept = folder / "kept/profile-lenet-batch-2-2.json";
  TrainingProfile foreign = read_training_profile(kept);
  foreign.machine["cpu"] = "abacus";
  write_training_profile(foreign, kept);
  CHECK_THAT(run_d5(command).err, Catch::Contains("abacus"));
  const auto forced = run_d5(command + " --force --out " + (folder / "forced.json"));
  INFO(forced.err);
  CHECK(forced.status == 0);
  const auto records = read_results(folder / "forced.json").measurements;
  CHECK_THAT(records.at(0).reason, Catch::Contains("abacus"));
}

TEST_CASE("ranks that share a batch are measured with their part of it") {
  if (!transport().present) return;
  const TemporaryFolder folder;
  keep_cluster(folder / "network-this-machine-2.yaml");
  const std::string out = folder / "curve.json";
  const auto run = run_d5(
      "predict lenet --batch 4 --steps 6 --least-time 0s --strong --measure 1,2 --launches 1 "
      "--step-budget 1ms --model closed --quiet --keep " +
      (folder / ".") + " --out " + out);
  INFO(run.err);
  REQUIRE(run.status == 0);
  for (const auto& record : read_results(out).measurements) {
    CHECK(record.conditions.at("batch") == (record.conditions.at("ranks") == "2" ? "2" : "4"));
    if (record.metric == "time") CHECK(record.samples.size() == 6);
  }
}

TEST_CASE("the help of predict tells every strategy in a line") {
  const auto run = run_d5("predict --help");
  for (const char* name : {"buckets", "fusion", "parameter_server", "wire"}) {
    CHECK_THAT(run.out, Catch::Contains(fmt::format("\n  {} ", name)));
  }
}

TEST_CASE("networks and strategies stand side by side") {
  const CostProfile profile;
  const auto run =
      run_d5("predict " + profile.file() +
             " --batch 8 --ranks 2 --quiet --format csv --cluster "
             "ethernet-10g,ethernet-25g --strategy compute:factor=2 --strategy wire:bandwidth=2");
  INFO(run.err);
  REQUIRE(run.status == 0);
  std::size_t rows = 0;
  for (std::size_t at = 0; (at = run.out.find("predicted_time", at)) != std::string::npos; ++at) {
    ++rows;
  }
  CHECK(rows == 6);
}

TEST_CASE("a calibration's file is a network, fitted to what crossed the wire") {
  if (!transport().present) return;
  const TemporaryFolder folder;
  const std::string file = folder / "here.yaml";
  const auto run = run_d5(
      "cluster calibrate --repetitions 3 --largest 64KiB --quiet --wire 200us,20MB/s --format csv "
      "--out " +
      file);
  INFO(run.err);
  REQUIRE(run.status == 0);
  // However busy the machine is, the wire delays each message by no less than this: a message of an
  // all-reduce is followed by another.
  std::map<std::string, int> rows;
  std::istringstream lines(run.out);
  std::string what, ranks, bytes, measured, rest;
  std::getline(lines, rest);
  CHECK(rest == "held out,ranks,bytes,measured,predicted,error\r");  // as RFC 4180 ends a line
  while (std::getline(lines, what, ',') && std::getline(lines, ranks, ',') &&
         std::getline(lines, bytes, ',') && std::getline(lines, measured, ',') &&
         std::getline(lines, rest)) {
    INFO(what << " of " << bytes << " bytes: " << measured);
    ++rows[what];
    CHECK(duration_seconds(measured) >= (what == "all-reduce ring" ? 2 : 1) * 200e-6);
  }
  CHECK(rows.size() == 3);
  CHECK(rows["message"] == 10);
  CHECK(rows["all-reduce ring"] == 3);
  const ClusterDescription cluster = load_cluster_description(file);
  for (const auto& number : {cluster.latency, cluster.bandwidth, cluster.overhead}) {
    CHECK(std::isfinite(number.value));
    CHECK_THAT(number.source, Catch::Contains("200us,20MB/s"));
  }
  CHECK(cluster.bandwidth.value > 0);
  CHECK(cluster.calibrated_bytes.value == 64 << 10);
}

}  // namespace
}  // namespace d5::testing

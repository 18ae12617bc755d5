// SPDX-License-Identifier: Apache-2.0
// Descriptions of clusters' networks: read, or refused. What was read is the same when it is read
// again, and makes a network that carries a message, or is refused with a reason.
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/prediction/networks/cluster_description.hpp"
#include "d5/prediction/simulation/simulated_run.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/mutation.hpp"

namespace d5::fuzz {
namespace {

const std::vector<std::string>& sound() {
  static const std::vector<std::string> clusters = [] {
    std::vector<std::string> all;
    for (const std::string& name : carried_clusters()) {
      all.push_back(read_file(D5_SOURCE_DIR "/data/clusters/" + name + ".yaml"));
    }
    ClusterDescription calibrated = parse_cluster_description(all.front(), "sound.yaml");
    calibrated.topology = "memory";
    calibrated.signal = {1e-7, "test"};
    calibrated.look = {1e-8, "test"};
    calibrated.medium_share = {0.5, "test"};
    calibrated.spread = {0.1, "test"};
    calibrated.calibrated_bytes = {1 << 20, "test"};
    calibrated.host_latency = {1e-6, "test"};
    calibrated.host_bandwidth = calibrated.end_bandwidth = calibrated.copy_bandwidth = {9e9, "t"};
    calibrated.segments = {{1 << 10, 1e-4, 1e9, "test"}, {1 << 20, 1e-3, 2e9, "test"}};
    all.push_back(to_yaml(calibrated));
    return all;
  }();
  return clusters;
}

}  // namespace

std::string name() { return "cluster_description"; }

void prepare() { (void)sound(); }

std::string make_case(RandomStream& random) {
  std::string text = pick(random, sound());
  for (auto changes = 1 + random.below(3); changes > 0; --changes) {
    text = one_in(random, 2) ? with_damage(text, random) : with_other_number(text, random);
  }
  return text;
}

std::string run_case(const std::string& text) {
  const ClusterDescription cluster = parse_cluster_description(text, "case.yaml");
  const std::string once = to_yaml(cluster);
  if (to_yaml(parse_cluster_description(once, "again.yaml")) != once) return "reads back otherwise";
  expect_places(cluster, 2);
  const auto report = run_simulated(
      2, cluster, [](SimulatedRank& rank, const std::shared_ptr<Communicator>& ranks) {
        Tensor data = Tensor::zeros(DType::float32, {1 << 10});
        rank.rank() == 0 ? ranks->send(data, 1) : ranks->receive(data, 0);
      });
  return std::isfinite(report.seconds) && report.seconds >= 0 ? "" : "a message takes no time";
}

}  // namespace d5::fuzz

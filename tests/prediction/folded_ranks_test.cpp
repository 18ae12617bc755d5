// SPDX-License-Identifier: Apache-2.0
// A few ranks that stand for all, against the simulation of every rank.
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/phantom_tensor.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/prediction/simulation/simulated_run.hpp"
#include "d5/prediction/training/scaling_prediction.hpp"
#include "tests/prediction/simple_cluster.hpp"

namespace d5 {
namespace {

using Ranks = std::shared_ptr<Communicator>;

/// Hosts of `each` ranks whose memory is faster than their ports, with overhead at each end.
ClusterDescription hosts_of(int each, int hosts) {
  ClusterDescription cluster = simple_cluster(hosts);
  cluster.name = "hosts of " + std::to_string(each);
  cluster.ranks_per_host = each;
  cluster.host_latency = {5e-6, "test"};
  cluster.host_bandwidth = {8e9, "test"};
  cluster.overhead = {2e-6, "test"};
  return cluster;
}

double all_reduce(const std::string& name, int ranks, int members,
                  const ClusterDescription& cluster, std::int64_t elements = 1'000'003) {
  return run_simulated(ranks, cluster,
                       [&](SimulatedRank&, const Ranks& all) {
                         Tensor data = phantom_tensor({DType::float32, {elements}});
                         all_reduces().at(name).make()->start(*all, data)->wait();
                       },
                       {.model = {"ports"}, .members = members})
      .seconds;
}

/// A step of `gradients` times 3 ms backward, after each of which 4 MB are final.
TrainingProfile even_profile(int gradients) {
  TrainingProfile profile{.model = "even", .framework = "none"};
  profile.pieces = {{.name = "all", .kind = "forward"}};
  for (int i = 0; i < gradients; ++i) {
    const std::string name = "g" + std::to_string(i);
    profile.parameters.push_back({name, 4'000'012});
    profile.pieces.push_back(
        {.name = name, .kind = "backward", .final_parameters = {std::size_t(i)}});
  }
  const std::size_t pieces = profile.pieces.size();
  TrainingProfile::Times times{.batch = 8};
  times.seconds.assign(pieces, {0.003});
  times.gaps.assign(pieces, {0.0});
  times.steps = {0.003 * double(pieces)};
  profile.batches = {times};
  return profile;
}

}  // namespace

TEST_CASE("one rank stands for all in all-reduces that are alike on each") {
  for (const char* name : {"ring", "segmented_ring"}) {
    for (const int n : {4, 8, 16, 32}) {
      CAPTURE(name, n);
      const ClusterDescription cluster = hosts_of(1, n);
      CHECK(all_reduce(name, n, 1, cluster) ==
            Approx(all_reduce(name, n, 0, cluster)).epsilon(1e-3));
    }
  }
}

TEST_CASE("a host's ranks stand for those of all hosts") {
  for (const char* name : {"ring", "two_level_ring"}) {
    for (const int each : {2, 4}) {
      for (const int n : {8, 16, 32}) {
        CAPTURE(name, each, n);
        const ClusterDescription cluster = hosts_of(each, n / each);
        CHECK(all_reduce(name, n, each, cluster) ==
              Approx(all_reduce(name, n, 0, cluster)).epsilon(1e-3));
      }
    }
  }
}

TEST_CASE("a ring of 100,000 ranks takes 2(n - 1)/n S/B + 2(n - 1) L by one of them") {
  const int n = 100'000;
  const double bytes = 4e8;
  CHECK(all_reduce("ring", n, 1, simple_cluster(n), 100'000'000) ==
        Approx(2.0 * (n - 1) * (bytes / n / kSimpleBandwidth + kSimpleLatency)).epsilon(1e-6));
}

TEST_CASE("ranks that are not alike do not fold") {
  const ClusterDescription cluster = hosts_of(1, 16);
  for (const char* name : {"binomial_tree", "recursive_doubling", "rabenseifner"}) {
    CHECK_THROWS_AS(all_reduce(name, 16, 1, cluster), RanksDiffer);
  }
  CHECK_THROWS_AS(all_reduce("ring", 16, 3, hosts_of(2, 8)), RanksDiffer);
  const auto run = [&](const std::function<void(const Ranks&)>& function) {
    run_simulated(16, cluster, [&](SimulatedRank&, const Ranks& all) { function(all); },
                  {.members = 1});
  };
  Tensor one = Tensor::scalar<float>(1);
  CHECK_THROWS_AS(run([&](const Ranks& all) { (void)all->split(all->rank()); }), RanksDiffer);
  CHECK_THROWS_AS(run([&](const Ranks& all) { all->receive(one, kAnyRank); }), RanksDiffer);
  CHECK_THROWS_AS(run([&](const Ranks& all) { all->start_send(one, 3)->wait(); }), RanksDiffer);
  CHECK_NOTHROW(run([&](const Ranks& all) { all->broadcast(one, 0); }));
  CHECK_NOTHROW(run([&](const Ranks& all) { all->barrier(); }));
}

TEST_CASE("a training folded to one host's ranks is that of every rank") {
  for (const auto progress : {SimulatedProgressRule::poll, SimulatedProgressRule::thread}) {
    for (const char* all_reduce : {"ring", "two_level_ring", "binomial_tree"}) {
      for (const int each : {1, 2}) {
        const ClusterDescription cluster = hosts_of(each, 32 / each);
        SimulatedTrainingOptions options{
            .batch = 8,
            .scheme = {"consistent_decentralized",
                       {{"all_reduce", all_reduce}, {"bucket_bytes", 4'000'000}}}};
        options.simulation.progress = progress;
        CAPTURE(all_reduce, each);
        const auto folded = simulate_training(even_profile(3), 32, cluster, options);
        options.every_rank = true;
        const auto every = simulate_training(even_profile(3), 32, cluster, options);
        CHECK(folded.step == Approx(every.step).epsilon(1e-3));
        CHECK(folded.bytes_sent == Approx(double(every.bytes_sent)).epsilon(1e-3));
        const bool is_tree = std::string(all_reduce) == "binomial_tree";
        CHECK((folded.report.messages == every.report.messages) == is_tree);
      }
    }
  }
}

TEST_CASE("a curve to 4,096 ranks is that of the closed form, where nothing hides messages") {
  SimulatedTrainingOptions training{
      .batch = 8,
      .scheme = {"consistent_decentralized",
                 {{"all_reduce", "ring"}, {"bucket_bytes", 100'000'000}}}};
  const auto points = predict_scaling(even_profile(1), simple_cluster(4096),
                                      {.ranks = {64, 4096}, .training = training});
  for (const auto& point : points) {
    const double n = point.ranks;
    CHECK(point.step ==
          Approx(0.006 + 2 * (n - 1) * (4'000'012 / n / kSimpleBandwidth + kSimpleLatency))
              .epsilon(1e-3));
    CHECK(point.baseline == Approx(point.step).epsilon(1e-3));
  }
}

TEST_CASE("what a budget leaves out is reported with the option's name") {
  SimulatedTrainingOptions training{
      .batch = 8, .scheme = {"consistent_decentralized", {{"all_reduce", "ring"}}}};
  training.every_rank = true;
  training.simulation.limit("8MiB");
  std::string left_out;
  const auto points = predict_scaling(
      even_profile(1), simple_cluster(4096),
      {.ranks = {1, 1024, 4096}, .training = training, .on_left_out = [&](const std::string& what) {
         left_out = what;
       }});
  CHECK(points.size() == 1);
  CHECK_THAT(left_out, Catch::StartsWith("1024, 4096 ranks: ") && Catch::Contains("raise budget"));
  SimulationOptions limits;
  limits.limit("30s,2GiB");
  CHECK(limits.most_wall_seconds == 30);
  CHECK(limits.most_bytes == std::int64_t{2} << 30);
  CHECK_THROWS_AS(limits.limit("soon"), ValueError);
}

}  // namespace d5

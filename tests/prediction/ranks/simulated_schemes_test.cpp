// SPDX-License-Identifier: Apache-2.0
// Training on simulated ranks with real data, compared with real ranks.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "d5/level1_network/source/models.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level3_distributed/exchange/gradient_exchange.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "d5/prediction/simulation/simulated_run.hpp"
#include "tests/level3_distributed/decentralized/quadratic.hpp"
#include "tests/prediction/simple_cluster.hpp"

namespace d5 {
namespace {

using Ranks = std::shared_ptr<Communicator>;

struct Trained {
  std::vector<float> parameters;
  Traffic traffic;
};

/// The results of `train` on real and on simulated ranks, on this rank.
template <class Train>
void compare_schemes(const std::string& what, const Train& train, double tolerance = 0) {
  CAPTURE(what);
  const auto counted = [&](const Ranks& ranks) {
    const Traffic before = ranks->traffic();
    Trained trained{train(ranks), {}};
    trained.traffic = ranks->traffic().since(before);
    return trained;
  };
  const Trained real = counted(world());
  Trained simulated;
  (void)run_simulated(world()->size(), simple_cluster(world()->size()),
                      [&](SimulatedRank& rank, const Ranks& ranks) {
                        Trained mine = counted(ranks);
                        if (rank.rank() == world()->rank()) simulated = std::move(mine);
                      });
  REQUIRE(real.parameters.size() == simulated.parameters.size());
  double largest = 0;
  for (std::size_t i = 0; i < real.parameters.size(); ++i) {
    largest = std::max(largest, std::abs(double{real.parameters[i]} - simulated.parameters[i]));
  }
  CHECK(largest <= tolerance);
  CHECK(real.traffic.by_call == simulated.traffic.by_call);
}

/// Training of a quadratic per rank with a single parameter.
std::vector<float> trained_quadratic(const std::string& name, const Settings& settings,
                                     const Ranks& ranks) {
  const auto optimizer =
      distributed_optimizers().at(name).make(testing::local_optimizer("sgd", 0.1), ranks, settings);
  const auto r = static_cast<std::size_t>(ranks->rank());
  testing::x_of(*optimizer) = testing::kDifferent.x[r];
  // Compared in float32: the library adds doubles in its own order, which affects only the last
  // bits.
  std::vector<float> path;
  for (int step = 0; step < 5; ++step) {
    (void)optimizer->step(
        testing::quadratic_batch(testing::kDifferent.a[r], testing::kDifferent.c[r]));
    path.push_back(static_cast<float>(testing::x_of(*optimizer)));
  }
  return path;
}

TEST_CASE("every scheme whose ranks meet in step gives the same numbers and counts") {
  const std::vector<std::pair<std::string, Settings>> schemes = {
      {"consistent_decentralized", {{"all_reduce", "ring"}}},
      {"consistent_neighbors", {}},
      {"d2", {{"lazy", true}}},
      {"push_sum", {}},
      {"model_averaging", {{"every", 3}, {"state", "average"}}},
      {"post_local", {{"until", 3}, {"every", 2}}},
      {"slow_momentum", {{"every", 3}}},
      {"elastic_averaging", {{"rho", 0.5}, {"all_reduce", "ring"}}},
  };
  for (const auto& [name, settings] : schemes) {
    compare_schemes(name, [&, &name = name, &settings = settings](const Ranks& ranks) {
      return trained_quadratic(name, settings, ranks);
    });
  }
}

/// LeNet on noise, this rank's own.
std::vector<float> trained_lenet(const std::string& exchange, const Ranks& ranks) {
  const Network network = models().at("lenet").make({{"seed", 4}, {"with_loss", true}});
  const auto optimizer =
      distributed_optimizers()
          .at("consistent_decentralized")
          .make(std::dynamic_pointer_cast<ThreeStepOptimizer>(
                    open_optimizer(exchange == "one_bit_adam" ? "frozen_adam" : "sgd",
                                   make_executor(network), "loss", {})),
                ranks, {{"exchange", exchange}, {"all_reduce", "ring"}, {"bucket_bytes", "65536"}});
  Batch batch;
  batch.size = 2;
  Tensor image = Tensor::empty(DType::float32, {2, 1, 28, 28});
  for (std::int64_t i = 0; i < image.elements(); ++i) {
    image.data<float>()[i] = float((i * 7919 + ranks->rank() * 104729) % 251) / 251.0F;
  }
  batch.values["image"] = image;
  batch.values["label"] = Tensor::of<std::int64_t>({2}, {ranks->rank(), 7});
  for (int step = 0; step < 2; ++step) (void)optimizer->step(batch);
  std::vector<float> all;
  for (const Parameter& parameter : optimizer->executor().network().parameters()) {
    const auto values = parameter.value.span<float>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

TEST_CASE("every exchange of gradients gives the same parameters and counts") {
  for (const auto& name : gradient_exchanges().names()) {
    if (name == "one_bit_adam") continue;  // needs its own rule
    // The library's reduce-scatter, on which shards go, adds in an order of its own: of numbers
    // below 1 a few roundings of float32.
    const double tolerance = name == "sharded" ? 1e-6 : 0;
    compare_schemes(
        name, [&](const Ranks& ranks) { return trained_lenet(name, ranks); }, tolerance);
  }
}

}  // namespace
}  // namespace d5

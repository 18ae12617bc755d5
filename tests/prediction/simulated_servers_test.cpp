// SPDX-License-Identifier: Apache-2.0
// Schemes whose result depends on the order of arrivals, which is deterministic on simulated ranks.
#include <catch2/catch.hpp>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "d5/level2_training/data/tensor_dataset.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "d5/prediction/simulation/simulated_run.hpp"
#include "tests/level3_distributed/decentralized/quadratic.hpp"
#include "tests/prediction/simple_cluster.hpp"

namespace d5 {
namespace {

struct Ended {
  std::vector<double> x, seconds;
  bool operator==(const Ended&) const = default;
};

/// Each rank draws towards a number of its own, at a speed of its own.
Ended trained_on_simulated_ranks(const std::string& name, int n) {
  Ended ended{std::vector<double>(std::size_t(n)), {}};
  const auto report = run_simulated(
      n, simple_cluster(n), [&](SimulatedRank& rank, const std::shared_ptr<Communicator>& ranks) {
        const auto column = [](double value) {
          return Tensor::of<double>({8, 1}, std::vector<double>(8, value));
        };
        const auto samples = std::make_shared<TensorDataset>(
            "own", std::vector<std::pair<std::string, Tensor>>{
                       {"a", column(1)}, {"b", column(0)}, {"c", column(1 + rank.rank())}});
        const auto optimizer =
            distributed_optimizers().at(name).make(testing::local_optimizer("sgd", 0.1), ranks, {});
        struct Slow final : TrainingEvent {
          SimulatedRank& rank;
          explicit Slow(SimulatedRank& rank) : rank(rank) {}
          void before_batch(Trainer&, const Batch&) override {
            rank.spend(1e-3 * (1 + rank.rank()));
          }
        };
        const auto sampler = samplers().at("ordered").make(samples, {{"batch_size", 1}});
        Trainer trainer(*optimizer, *sampler, nullptr, {.epochs = 2});
        trainer.events().add(std::make_shared<Slow>(rank));
        optimizer->run(trainer);
        ended.x[std::size_t(rank.rank())] = testing::x_of(*optimizer);
      });
  ended.seconds = report.rank_seconds;
  return ended;
}

TEST_CASE("schemes with servers train on simulated ranks, and twice the same") {
  for (const char* name :
       {"consistent_centralized", "inconsistent_centralized", "stale_synchronous"}) {
    CAPTURE(name);
    const Ended first = trained_on_simulated_ranks(name, 4);
    CHECK(first == trained_on_simulated_ranks(name, 4));
    CHECK(std::isfinite(first.x[0]));
    CHECK(first.x[0] > 0);  // all draw it there
    CHECK(first.seconds[1] >= 16 * 2e-3);
  }
}

}  // namespace
}  // namespace d5

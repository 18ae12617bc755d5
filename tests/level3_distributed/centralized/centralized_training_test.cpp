// SPDX-License-Identifier: Apache-2.0
// Whole trainings: tests, checkpoints and ends.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/training/checkpoint.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "d5/level3_distributed/schemes/distributed_training.hpp"
#include "d5/level3_distributed/schemes/rank_role.hpp"
#include "level1_network/nodes/identical.hpp"
#include "tests/level3_distributed/shared_folder.hpp"
#include "tests/level3_distributed/this_rank.hpp"

using namespace d5;
using testing::rank_count;
using testing::SharedFolder;
using testing::this_rank;

namespace {

Recipe recipe_of(const std::string& scheme, const std::vector<std::string>& changes = {}) {
  Recipe recipe = Recipe::parse(R"(name: tiny
fixed:
  dataset: {name: mnist, subset: sample, train_samples: 36, test_samples: 10}
  model: {name: lenet}
mutable:
  sampler: {batch_size: 12}
  optimizer: {name: adam, learning_rate: 0.001, schedules: {learning_rate: {name: exponential, factor: 0.9}}}
  training: {epochs: 3, most_batches: 0, seed: 1, precision: float32}
)",
                                "tiny.yaml");
  recipe.set("distributed.name=" + scheme);
  for (const auto& change : changes) recipe.set(change);
  return recipe;
}

std::vector<Measurement> trained(const Recipe& recipe, SessionOptions session = {}) {
  session.checkpoint_every = 2;
  return train(recipe, std::move(session), world());
}

std::string part(const std::string& file) {
  return this_rank == 0 ? file : file + ".rank-" + std::to_string(this_rank);
}

void check_same_parts(const std::string& file, const std::string& expected) {
  Checkpoint mine = read_checkpoint(part(file)), its = read_checkpoint(part(expected));
  // The state of the machine differs in each run.
  for (Checkpoint* one : {&mine, &its}) {
    std::erase_if(one->tensors,
                  [](const auto& tensor) { return tensor.first.ends_with("/doubts"); });
  }
  CHECK(mine.step == its.step);
  REQUIRE(mine.tensors.size() == its.tensors.size());
  for (const auto& [name, value] : its.tensors) {
    CAPTURE(name);
    if (name.starts_with("metric/") && name.find("time") != std::string::npos) continue;
    CHECK(identical(mine.tensors.at(name).tensor(), value.tensor()));
  }
}

const std::vector<std::string> kSchemes{"consistent_centralized", "inconsistent_centralized",
                                        "stale_synchronous", "hogwild"};

}  // namespace

TEST_CASE("what servers remember is in rank 0's checkpoint, and training goes on to the bit") {
  struct Case {
    std::string scheme;
    std::vector<std::string> changes;
    int servers;
    bool same_bits;
  };
  const int alone = rank_count == 2;  // one worker: no order of arrivals
  const std::vector<Case> cases{
      {"consistent_centralized", {"distributed.server=works"}, 0, true},
      {"consistent_centralized", {"distributed.server=serves"}, 1, true},
      {"consistent_centralized", {"distributed.server=serves", "distributed.shards=2"}, 2, true},
      {"inconsistent_centralized", {}, 1, alone != 0},
      {"stale_synchronous", {"distributed.staleness=1"}, 1, alone != 0},
      {"hogwild", {}, 0, false}};
  for (const auto& [scheme, changes, servers, same_bits] : cases) {
    if (rank_count < 2 || rank_count - servers < 1) continue;
    INFO(scheme << (changes.empty() ? "" : " " + changes[0]) << ", servers " << servers);
    const SharedFolder folder;
    const std::string whole = folder / "whole.ckpt", cut = folder / "cut.ckpt";
    auto with_end = [&](int batches) {
      auto all = changes;
      all.push_back("training.most_batches=" + std::to_string(batches));
      return recipe_of(scheme, all);
    };
    const auto expected = trained(with_end(7), {.checkpoint = whole});
    (void)trained(with_end(4), {.checkpoint = cut});
    const auto results = trained(with_end(7), {.checkpoint = cut, .resume = cut});
    for (const auto& result : results) CHECK(result.status != Status::failed);
    if (this_rank >= rank_count - servers) continue;
    CHECK(read_checkpoint(part(cut)).step == 7);
    if (same_bits) check_same_parts(cut, whole);
  }
}

TEST_CASE("all workers test and end with the same parameters, the servers' newest") {
  struct Watch final : TrainingEvent {
    std::vector<std::vector<float>> tested;
    void after_test(Trainer& trainer) override {
      Network& network = trainer.optimizer().executor().network();
      const Tensor all = network.parameter_arena();
      tested.emplace_back(all.data<float>(), all.data<float>() + all.elements());
    }
  };
  if (rank_count == 1) return;
  for (const std::string& scheme : kSchemes) {
    INFO(scheme);
    const auto watch = std::make_shared<Watch>();
    (void)trained(recipe_of(scheme), {.observers = {watch}});
    const RankRole role = distributed_optimizers().at(scheme).role(this_rank, rank_count);
    const auto workers = world()->split(role.works() ? 0 : -1);
    if (!workers) continue;
    REQUIRE(watch->tested.size() == 3);
    for (const auto& values : watch->tested) {
      Tensor first = Tensor::vector(values);
      workers->broadcast(first, 0);
      CHECK(std::equal(values.begin(), values.end(), first.data<float>()));
    }
  }
}

TEST_CASE("a loss that is no number at any worker ends training on every rank") {
  if (rank_count == 1) return;
  for (const std::string& scheme : kSchemes) {
    INFO(scheme);
    CHECK_THROWS_AS(trained(recipe_of(scheme, {"optimizer.learning_rate=1e30"})), NumericError);
    world()->barrier();
  }
}

TEST_CASE("a worker that fails alone is heard by its server, which tells the others") {
  struct Fails final : TrainingEvent {
    void before_batch(Trainer& trainer, const Batch&) override {
      if (trainer.step() == 0) return;
      if (this_rank == 0) throw NumericError("worker 0 has had enough");
      // Not at the end of the epoch, where workers wait for each other, before they heard of it.
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  };
  if (rank_count == 1) return;
  for (const std::string scheme :
       {"consistent_centralized", "inconsistent_centralized", "stale_synchronous"}) {
    INFO(scheme);
    const bool is_synchronous = scheme == "consistent_centralized";
    const Recipe recipe =
        recipe_of(scheme, {is_synchronous ? "sampler.batch_size=12" : "sampler.batch_size=6"});
    CHECK_THROWS_WITH(trained(recipe, {.observers = {std::make_shared<Fails>()}}),
                      Catch::Contains("worker 0 has had enough"));
    world()->barrier();
  }
}

TEST_CASE("ranks that cannot share a batch, or have too few workers, all say so before training") {
  if (rank_count == 1) return;
  for (const std::string scheme : {"inconsistent_centralized", "stale_synchronous"}) {
    CHECK_THROWS_AS(
        trained(recipe_of(scheme, {"distributed.servers=" + std::to_string(rank_count)})),
        ValueError);
    if (rank_count > 2) {
      CHECK_THROWS_WITH(trained(recipe_of(scheme, {"sampler.batch_size=13"})),
                        Catch::Contains("cannot be shared"));
    }
  }
  CHECK_THROWS_AS(trained(recipe_of("stale_synchronous", {"distributed.staleness=-1"})),
                  ValueError);
  CHECK_THROWS_AS(
      trained(recipe_of(this_rank == 0 ? "consistent_centralized" : "stale_synchronous")),
      CommunicationError);
}

TEST_CASE("networks of 16 bits train with servers that have their masters") {
  if (rank_count == 1) return;
  for (const std::string& scheme : kSchemes) {
    INFO(scheme);
    for (const auto& result : trained(recipe_of(scheme, {"training.precision=bfloat16"}))) {
      INFO(result.metric << " " << result.reason);
      CHECK(result.status != Status::failed);
    }
  }
}

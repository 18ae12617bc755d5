// SPDX-License-Identifier: Apache-2.0
// Trainings by a recipe with different parameters on the ranks.
#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/level1_network/graph/network.hpp"
#include "d5/level2_training/training/accuracy.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "d5/level3_distributed/schemes/distributed_training.hpp"
#include "tests/level3_distributed/this_rank.hpp"

using namespace d5;
using namespace d5::testing;

namespace {

constexpr int kTests = 20;

Recipe digits(const std::string& scheme, const std::vector<std::string>& changes = {}) {
  Recipe recipe = Recipe::parse(R"(name: digits
fixed:
  dataset: {name: mnist, subset: sample, train_samples: 24, test_samples: 20}
  model: {name: lenet}
mutable:
  sampler: {batch_size: 12}
  optimizer: {name: sgd, learning_rate: 0.1}
  training: {epochs: 2, most_batches: 0, seed: 1, precision: float32}
)",
                                "digits.yaml");
  recipe.set("distributed.name=" + scheme);
  for (const auto& change : changes) recipe.set(change);
  return recipe;
}

/// Counts by hand each rank's test accuracy with its own parameters before a test run.
struct CountsByHand final : TrainingEvent {
  std::vector<double> shares;
  void before_test(Trainer& trainer) override {
    GraphExecutor& executor = trainer.optimizer().executor();
    const ModeScope inference(executor, NetworkMode::inference);
    const auto whole = open_dataset("mnist", {{"subset", "sample"}, {"test_samples", kTests}}).test;
    const auto all = samplers().at("ordered").make(whole, {{"batch_size", kTests}});
    const Batch* batch = all->next();
    const ValueMap outputs = executor.inference(
        {{"image", batch->values.at("image")}, {"label", batch->values.at("label")}});
    const float* scores = outputs.at("logits").tensor().data<float>();
    const std::int64_t* labels = batch->values.at("label").tensor().data<std::int64_t>();
    int right = 0;
    for (int i = 0; i < kTests; ++i) {
      right +=
          std::max_element(scores + 10 * i, scores + 10 * i + 10) - scores - 10 * i == labels[i];
    }
    shares.push_back(double(right) / kTests);
  }
};

}  // namespace

TEST_CASE("the accuracy of each rank's own parameters is a record of that rank") {
  for (const char* scheme : {"consistent_neighbors", "elastic_averaging"}) {
    CAPTURE(scheme);
    const auto by_hand = std::make_shared<CountsByHand>();
    Recipe recipe = digits(scheme);
    SessionOptions session;
    session.metrics.emplace_back("own_test_accuracy");
    session.observers.push_back(by_hand);
    const auto results = train(recipe, std::move(session), world());
    int records = 0;
    for (const Measurement& m : results) {
      if (m.metric != "own_test_accuracy") continue;
      ++records;
      CHECK(m.status == Status::passed);
      if (rank_count > 1 && m.conditions.at("rank") != std::to_string(this_rank)) continue;
      CHECK(m.samples == by_hand->shares);
    }
    CHECK(records == rank_count);
    CHECK(by_hand->shares.size() == 2);
  }
}

TEST_CASE("networks of 16 bits train with parameters of each rank in 32") {
  for (const std::string scheme :
       {"consistent_neighbors", "d2", "push_sum", "asynchronous_neighbors", "model_averaging",
        "post_local", "slow_momentum", "elastic_averaging"}) {
    INFO(scheme);
    std::vector<std::string> changes{"training.precision=bfloat16", "training.epochs=1"};
    if (scheme == "d2") changes.emplace_back("distributed.lazy=true");
    for (const auto& result : train(digits(scheme, changes), {}, world())) {
      INFO(result.metric << " " << result.reason);
      CHECK(result.status != Status::failed);
    }
  }
}

TEST_CASE("what a scheme has under way ends with its training, before who observes it leaves") {
  for (const bool overlap : {false, true}) {
    SessionOptions session;
    session.metrics.emplace_back("exposed_time");
    session.metrics.emplace_back("overlapped_time");
    const Recipe recipe =
        digits("push_sum", {std::string("distributed.overlap=") + (overlap ? "true" : "false")});
    for (const auto& result : train(recipe, std::move(session), world())) {
      INFO(result.metric << " " << result.reason);
      CHECK(result.status != Status::failed);
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/schemes/distributed_training.hpp"
#include <catch2/catch.hpp>
#include "d5/level3_distributed/communicator/communicator.hpp"

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/level2_training/training/training_variant.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "tests/level3_distributed/recipe_for_ranks.hpp"

using namespace d5;
using testing::recipe_for_ranks;

namespace {

/// The library's all-reduce under a user's name, with an option.
class NamedAllReduce final : public AllReduce {
 public:
  struct Options {
    std::int64_t parts = 1;
    void declare(OptionList& options) { options.add("parts", parts, "parts of the data"); }
  };
  explicit NamedAllReduce(const Options&) {}
  std::unique_ptr<Request> start(Communicator& communicator, Tensor& data,
                                 Reduction reduction) override {
    return communicator.start_all_reduce(data, reduction);
  }
};

void register_own_all_reduce() {
  if (all_reduces().find("users_own")) return;
  all_reduces().add("users_own", AllReduceEntry::of<NamedAllReduce>("test all-reduce"));
}

std::vector<Measurement> trained(const std::string& section,
                                 const std::vector<std::string>& changes = {}) {
  Recipe recipe = recipe_for_ranks({}, section);
  for (const auto& change : changes) recipe.set(change);
  return train(recipe, {.data = ""}, world());
}

}  // namespace

TEST_CASE("a record says how its ranks worked together, and its command starts them so again") {
  register_own_all_reduce();
  const std::string scheme =
      "distributed.name=consistent_decentralized:all_reduce=users_own:bucket_bytes=8192";
  const auto results = trained("", {scheme, "distributed.scaling=weak"});
  const std::string changes = " --set " + scheme + " --set distributed.scaling=weak";
  const int ranks = world()->size();
  const std::string threads = " --threads " + std::to_string(d5::threads());
  for (const auto& m : results) {
    if (ranks == 1) {
      CHECK(m.level == "training");
      CHECK(m.command == "d5 train tiny.yaml" + changes + " --framework reference" + threads);
      CHECK_FALSE(m.conditions.contains("all_reduce"));
      continue;
    }
    CHECK(m.level == "distributed");
    CHECK_THAT(m.command, Catch::StartsWith("mpirun -np " + std::to_string(ranks) + " ") &&
                              Catch::EndsWith("d5 train tiny.yaml" + changes +
                                              " --framework reference" + threads));
    CHECK(m.conditions.at("ranks") == std::to_string(ranks));
    CHECK(m.conditions.at("distributed") == "consistent_decentralized");
    CHECK(m.conditions.at("scaling") == "weak");
    CHECK(m.conditions.at("all_reduce") == "users_own");
    CHECK(m.conditions.at("bucket_bytes") == "8192");
  }
}

TEST_CASE("what nobody chose is recorded as well, and so are an all-reduce's own settings") {
  if (world()->size() == 1) return;
  register_own_all_reduce();
  CHECK(trained("").front().conditions.at("all_reduce") == "auto");
  const std::string section = "  distributed: {all_reduce: {name: users_own, parts: 2}}\n";
  const auto own = trained(section).front();
  CHECK(own.conditions.at("all_reduce") == "users_own");
  CHECK(own.conditions.at("all_reduce.parts") == "2");
}

TEST_CASE("an all-reduce of the command line takes the place of the recipe's, map or word") {
  register_own_all_reduce();
  for (const std::string way : {"ring", "{name: ring}"}) {
    Recipe recipe = recipe_for_ranks({}, "  distributed: {all_reduce: " + way + "}\n");
    recipe.set("distributed.name=consistent_decentralized:all_reduce=users_own");
    const Settings settings = distributed_options(recipe).scheme.settings;
    CHECK(settings.text("all_reduce", "") == "users_own");
    CHECK_FALSE(settings.has("all_reduce.name"));
  }
}

TEST_CASE("all ranks end after the epoch in which one has reached its target") {
  struct Reached final : TrainingEvent {
    bool reached = false;
    void after_test(Trainer&) override { reached = world()->rank() == 0; }
    bool wants_stop() const override { return reached; }
  };
  Recipe recipe = recipe_for_ranks();
  recipe.set("training.epochs=4");
  const auto results = train(recipe, {.observers = {std::make_shared<Reached>()}}, world());
  CHECK(std::ranges::find(results, "loss", &Measurement::metric)->samples.size() == 3);
}

TEST_CASE("all ranks end after the epoch within which one has enough") {
  struct Enough final : TrainingEvent {
    std::int64_t batches = 0, epochs = 0;
    void after_batch(Trainer&, const Batch&, const ValueMap&) override { ++batches; }
    void after_epoch(Trainer&, std::int64_t) override { ++epochs; }
    bool wants_stop() const override { return world()->rank() == 0 && batches >= 4; }
  };
  const auto enough = std::make_shared<Enough>();
  Recipe recipe = recipe_for_ranks();
  recipe.set("training.epochs=4");
  (void)train(recipe, {.observers = {enough}}, world());
  CHECK(enough->epochs == 2);
  CHECK(enough->batches == (world()->size() == 1 ? 4 : 6));
}

TEST_CASE("several ranks are judged by what they print together") {
  const std::string section = "acceptable:\n  training_accuracy: {at_least: ";
  const auto accuracy = [](const std::vector<Measurement>& results) {
    return *std::ranges::find(results, "training_accuracy", &Measurement::metric);
  };
  const double together = estimate(accuracy(trained(""))).value;
  const auto with_bound = [&](double bound) {
    return accuracy(trained(section + std::to_string(bound) + "}\n")).status;
  };
  // One of the ranks alone has less than the mean, unless all have the same.
  CHECK(with_bound(together - 1e-5) == Status::passed);
  CHECK(with_bound(together + 1e-5) == Status::failed);
}

TEST_CASE("each of several variants trains with its own scheme and all-reduce") {
  Recipe recipe = recipe_for_ranks();
  const auto variants = vary(recipe, "distributed.all_reduce=ring,mpi");
  if (world()->size() == 1) return;
  for (const auto& variant : variants) {
    const auto results = train(variant.recipe, {.data = ""}, world());
    CHECK(results.front().conditions.at("all_reduce") == variant.name);
  }
}

TEST_CASE("another scheme begins with options of its own, and shares batches as before") {
  Recipe recipe = recipe_for_ranks(
      {}, "  distributed: {name: consistent_decentralized, all_reduce: ring, scaling: weak}\n");
  Recipe same = recipe;
  same.set("distributed.name=consistent_decentralized:bucket_bytes=4096");
  CHECK(distributed_options(same).scheme.settings.text("all_reduce", "") == "ring");
  recipe.set("distributed.name=another");
  CHECK_THROWS_AS(distributed_options(recipe), NotFound);
  for (const std::string wrong : {
           "consistent_decentralized:all_reduce=rings",
           "consistent_decentralized:all_reduce.name=ring:all_reduce.parts=2",
           "consistent_decentralized:exchange.name=compressed:exchange.compressor=float17",
           "consistent_decentralized:exchange.name=compressed:exchange.compressors=float16",
           "consistent_neighbors:topology=rings",
       }) {
    INFO(wrong);
    Recipe one = same;
    one.set("distributed.name=" + wrong);
    CHECK_THROWS_AS(distributed_options(one), NotFound);
  }
  CHECK_FALSE(recipe.section("distributed").has("all_reduce"));
  CHECK(recipe.section("distributed").text("scaling", "") == "weak");
}

TEST_CASE("a compressor draws by the training's seed, or by its own") {
  const int ranks = world()->size();
  if (ranks == 1) return;  // no gradients travel
  const auto loss = [](const std::string& seed, const std::string& of_compressor) {
    // Only the compressor uses the training's seed.
    const auto recipe =
        Recipe::parse(R"(name: tiny
fixed:
  dataset: {name: mnist, subset: sample, train_samples: 36, test_samples: 10}
  model: {name: lenet, seed: 7}
mutable:
  sampler: {name: ordered, batch_size: 12}
  optimizer: {name: sgd, learning_rate: 0.05}
  distributed:
    name: consistent_decentralized
    exchange: {name: compressed, error_feedback: false, compressor: {name: terngrad)" +
                          of_compressor + "}}\n  training: {epochs: 1, seed: " + seed + "}\n",
                      "tiny.yaml");
    const auto results = train(recipe, {.data = ""}, world());
    const auto found =
        std::ranges::find_if(results, [](const auto& m) { return m.metric == "loss"; });
    REQUIRE(found != results.end());
    return found->samples;
  };
  CHECK(loss("1", "") == loss("1", ""));
  CHECK(loss("1", "") != loss("2", ""));
  CHECK(loss("1", ", seed: 5") == loss("2", ", seed: 5"));
}

TEST_CASE("a scheme that draws does so by the training's seed, or by its own") {
  static std::vector<std::uint64_t> seen;  // seeds of all instances
  struct Draws final : DistributedOptimizer {
    struct Options {
      std::uint64_t seed = 0;
      void declare(OptionList& options) { options.add("seed", seed, "seed of this test"); }
    };
    Draws(std::shared_ptr<ThreeStepOptimizer> optimizer, std::shared_ptr<Communicator> ranks,
          const Options& options)
        : DistributedOptimizer(std::move(optimizer), std::move(ranks)) {
      seen.push_back(options.seed);
    }
    [[nodiscard]] bool is_consistent() const override { return false; }
  };
  if (world()->size() == 1) return;
  if (!distributed_optimizers().find("draws")) {
    distributed_optimizers().add("draws", DistributedOptimizerEntry::of<Draws>("test scheme"));
  }
  (void)trained("", {"distributed.name=draws", "training.seed=7"});
  CHECK(seen.back() == 7);
  (void)trained("", {"distributed.name=draws:seed=5", "training.seed=7"});
  CHECK(seen.back() == 5);
}

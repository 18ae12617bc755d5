// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include "d5/level3_distributed/schemes/rank_role.hpp"

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "d5/level3_distributed/schemes/distributed_training.hpp"
#include "d5/level3_distributed/schemes/rank_check.hpp"
#include "level3_distributed/schemes/mean_model.hpp"
#include "tests/level3_distributed/recipe_for_ranks.hpp"

using namespace d5;

namespace {

/// A scheme whose last rank serves: it receives each worker's last message.
class Served final : public DistributedOptimizer {
 public:
  struct Options {
    void declare(OptionList&) {}
  };
  Served(std::shared_ptr<ThreeStepOptimizer> optimizer, const std::shared_ptr<Communicator>& ranks,
         const Options&)
      : DistributedOptimizer(std::move(optimizer), ranks,
                             ranks->split(is_server(*ranks) ? -1 : 0)) {}

  static RankRole role(const Options&, int rank, int ranks) {
    if (rank == ranks - 1) return {RankRole::Kind::server, 0, ranks - 1};
    return {RankRole::Kind::worker, rank, ranks - 1};
  }

  bool is_consistent() const override { return false; }

  void run(Trainer& trainer, const Interrupt& interrupt) override {
    if (!is_server(communicator())) trainer.run(interrupt);
    Tensor steps = Tensor::vector(std::vector<std::int64_t>{trainer.step()});
    const int server = communicator().size() - 1;
    if (!is_server(communicator())) return communicator().send(steps, server);
    for (int worker = 0; worker < server; ++worker) {
      communicator().receive(steps, kAnyRank);
      heard.push_back(steps.data<std::int64_t>()[0]);
    }
  }

  static inline std::vector<std::int64_t> heard;

 private:
  static bool is_server(const Communicator& ranks) { return ranks.rank() == ranks.size() - 1; }
};

/// Ranks that exchange nothing.
class Apart final : public DistributedOptimizer {
 public:
  Apart(std::shared_ptr<ThreeStepOptimizer> optimizer, const std::shared_ptr<Communicator>& ranks)
      : DistributedOptimizer(std::move(optimizer), ranks), mean_(executor().network(), *ranks) {}
  bool is_consistent() const override { return false; }
  void begin_test() override { mean_.lend(); }
  void end_test() override { mean_.take_back(); }

 private:
  detail::MeanModel mean_;
};

std::vector<Measurement> trained_by(const std::string& scheme, SessionOptions session = {}) {
  if (!distributed_optimizers().find("served")) {
    distributed_optimizers().add("served", DistributedOptimizerEntry::of<Served>("test scheme"));
    distributed_optimizers().add("apart", DistributedOptimizerEntry::of<Apart>("test scheme"));
  }
  Recipe recipe = testing::recipe_for_ranks();
  recipe.set("distributed.name=" + scheme);
  return train(recipe, std::move(session), world());
}

/// Samples of an epoch and its test run.
struct Samples final : TrainingEvent {
  std::int64_t trained = 0, tested = 0;
  void after_batch(Trainer&, const Batch& batch, const ValueMap&) override {
    trained += batch.size;
  }
  void after_test_batch(Trainer&, const Batch& batch, const ValueMap&) override {
    tested += batch.size;
  }
};

std::int64_t over_ranks(std::int64_t mine) {
  Tensor sum = Tensor::vector(std::vector<std::int64_t>{mine});
  world()->all_reduce(sum);
  return sum.data<std::int64_t>()[0];
}

}  // namespace

TEST_CASE("a server trains nothing, and workers share all batches and tests among themselves") {
  const int ranks = world()->size();
  if (ranks == 1) return;
  const auto samples = std::make_shared<Samples>();
  Served::heard.clear();
  const auto results = trained_by("served", {.observers = {samples}});
  const bool is_server = world()->rank() == ranks - 1;
  CHECK((samples->trained == 0) == is_server);
  CHECK(over_ranks(samples->trained) == 36);
  CHECK(over_ranks(samples->tested) == 10);
  if (is_server) CHECK(Served::heard == std::vector<std::int64_t>(std::size_t(ranks - 1), 3));
  for (const auto& result : results) {
    INFO(result.metric << ": " << result.reason);
    CHECK(result.status != Status::failed);
    CHECK_FALSE(result.samples.empty());
  }
  const auto loss = std::ranges::find(results, "loss", &Measurement::metric);
  REQUIRE(loss != results.end());
  CHECK_FALSE(loss->conditions.contains("rank"));
}

TEST_CASE("what servers send and receive is in the record as well") {
  const int ranks = world()->size();
  if (ranks == 1) return;
  std::vector<std::string> of_ranks;
  for (const auto& result : trained_by("served")) {
    if (result.metric == "communication_volume")
      of_ranks.push_back(result.conditions.at("rank").text());
  }
  CHECK(of_ranks.size() == std::size_t(ranks));
}

TEST_CASE("ranks with parameters of their own test their mean, and train on with their own") {
  struct Watch final : TrainingEvent {
    std::vector<float> before, tested, after;
    static std::vector<float> values(Trainer& trainer) {
      const Tensor all = trainer.optimizer().executor().network().parameter_arena();
      return {all.data<float>(), all.data<float>() + all.elements()};
    }
    void before_test(Trainer& trainer) override { before = values(trainer); }
    void after_test_batch(Trainer& trainer, const Batch&, const ValueMap&) override {
      tested = values(trainer);
    }
    void after_epoch(Trainer& trainer, std::int64_t) override { after = values(trainer); }
    bool wants_whole_tests() const override { return true; }
  };
  const int ranks = world()->size();
  const auto watch = std::make_shared<Watch>();
  (void)trained_by("apart", {.observers = {watch}});
  CHECK(watch->after == watch->before);
  if (ranks == 1) return;
  CHECK(watch->tested != watch->before);
  Tensor sum = Tensor::vector(watch->before);
  world()->all_reduce(sum);
  for (std::size_t i = 0; i < watch->tested.size(); i += 997) {
    // One rounding of the sum for each rank, and one of the division.
    const float bound = 1e-6f * (1 + std::abs(watch->tested[i]));
    CHECK(std::abs(watch->tested[i] - sum.data<float>()[i] / float(ranks)) <= bound);
  }
}

TEST_CASE("parameters of ranks that differ by definition are not compared") {
  if (world()->size() == 1) return;
  const auto check = std::make_shared<RankCheck>(world(), 1);
  CHECK_THROWS_WITH(trained_by("apart", {.observers = {check}}),
                    Catch::Contains("parameters differ between steps"));
}

// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/network_feed.hpp"

#include <catch2/catch.hpp>

#include "d5/level1_network/source/models.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "tests/level2_training/points.hpp"

using namespace d5;

namespace {

std::shared_ptr<const Dataset> digits() {
  static const auto data =
      open_dataset("mnist", {{"subset", "sample"}, {"train_samples", 100}}).train;
  return data;
}

std::shared_ptr<Sampler> shuffled(std::int64_t batch_size, const std::string& tail) {
  return samplers().at("shuffle").make(digits(),
                                       {{"batch_size", batch_size}, {"tail", tail}, {"seed", 2}});
}

std::shared_ptr<Optimizer> lenet(const ExecutorOptions& options = {}) {
  return optimizers()
      .at("momentum")
      .make(make_executor(models().at("lenet").make({{"seed", 1}, {"with_loss", true}}), options),
            "loss", {{"learning_rate", 0.05}});
}

float loss_of(const ValueMap& outputs) { return outputs.at("loss").tensor().item<float>(); }

std::vector<float> losses_when_fed(Sampler& sampler, std::int64_t steps) {
  const auto optimizer = lenet();
  std::vector<float> losses;
  for (std::int64_t epoch = 0;; ++epoch) {
    sampler.reset(epoch);
    while (const Batch* batch = sampler.next()) {
      losses.push_back(loss_of(optimizer->step(*batch)));
      if (std::int64_t(losses.size()) == steps) return losses;
    }
  }
}

/// The epochs that ended, each with the number of runs before.
class Ends final : public FeedEvent, public ExecutionEvent {
 public:
  void after_run(Pass) override { ++runs; }
  void after_epoch(Sampler&, std::int64_t epoch) override { ends.emplace_back(epoch, runs); }
  int runs = 0;
  std::vector<std::pair<std::int64_t, int>> ends;
};

}  // namespace

TEST_CASE("a network that pulls its own data learns the same as one that is fed") {
  // Even batches, and a tail that only running sizes.
  for (const auto& [batch_size, tail] : {std::pair{30, "drop"}, {50, "keep"}, {40, "keep"}}) {
    for (const std::int64_t threads : {0, 2}) {
      CAPTURE(batch_size, tail, threads);
      const auto expected = losses_when_fed(*shuffled(batch_size, tail), 8);
      const auto optimizer = lenet();
      const auto sampler = shuffled(batch_size, tail);
      sampler->read_ahead(int(threads));
      feed_from(optimizer->executor(), sampler);
      CHECK(optimizer->executor().network().input_names().empty());
      std::vector<float> losses;
      for (int step = 0; step < 8; ++step) losses.push_back(loss_of(optimizer->step({})));
      CHECK(losses == expected);
    }
  }
}

TEST_CASE("inference without inputs goes through the epochs, whose ends are events") {
  const auto executor = make_executor(test::points_network());
  const auto sampler = samplers().at("ordered").make(test::points(9), {{"batch_size", 3}});
  const auto feed = feed_from(*executor, sampler);
  const auto ends = std::make_shared<Ends>();
  executor->events().add(ends);
  const auto fed = make_executor(test::points_network());
  const auto again = samplers().at("ordered").make(test::points(9), {{"batch_size", 3}});
  BatchFeed inputs;
  for (int run = 0; run < 8; ++run) {
    if (run % 3 == 0) again->reset(run / 3);
    const Batch* batch = again->next();
    const float expected = loss_of(fed->inference(inputs.of(fed->network(), *batch)));
    CHECK(loss_of(executor->inference({})) == expected);
    CHECK(feed->batch().epoch == run / 3);
    CHECK(feed->batch().index == run % 3);
  }
  // The feed was there first, so it tells before the third run is counted.
  CHECK(ends->ends == std::vector<std::pair<std::int64_t, int>>{{0, 2}, {1, 5}});
}

TEST_CASE("a run that ended before its data was read leaves the batch to the next one") {
  struct EndFirst final : ExecutionEvent {
    explicit EndFirst(GraphExecutor& executor) : executor(executor) {}
    void before_run(Pass) override {
      if (++runs == 2) executor.end_run();
    }
    GraphExecutor& executor;
    int runs = 0;
  };
  const auto executor = make_executor(test::points_network());
  const auto feed =
      feed_from(*executor, samplers().at("ordered").make(test::points(9), {{"batch_size", 3}}));
  executor->events().add(std::make_shared<EndFirst>(*executor));
  std::vector<std::int64_t> seen;
  for (int run = 0; run < 3; ++run) {
    (void)executor->inference({});
    seen.push_back(feed->batch().index);
  }
  CHECK(seen == std::vector<std::int64_t>{0, 1, 1});
}

TEST_CASE("a feed goes on from any batch of any epoch") {
  const auto executor = make_executor(test::points_network());
  const auto feed =
      feed_from(*executor, samplers().at("shuffle").make(test::points(9), {{"batch_size", 3}}));
  const auto next_run = [&] {
    const float loss = loss_of(executor->inference({}));
    return std::tuple{feed->batch().epoch, feed->batch().index, loss};
  };
  std::vector<decltype(next_run())> whole;
  for (int run = 0; run < 9; ++run) whole.push_back(next_run());
  for (const int run : {4, 8, 2, 0, 5}) {
    feed->seek(run / 3, run % 3);
    CHECK(next_run() == whole[std::size_t(run)]);
    if (run < 8) CHECK(next_run() == whole[std::size_t(run + 1)]);
  }
  feed->seek(1, 3);  // behind the last one
  CHECK(next_run() == whole[6]);
  CHECK_THROWS_AS(feed->seek(0, 4), ValueError);
}

TEST_CASE("inputs that no field feeds stay inputs") {
  Network network("sum");
  network.add_input("x", DType::float32, {"N", std::int64_t{2}});
  network.add_input("bias", DType::float32, {std::int64_t{2}});
  network.add_node("Add", {"x", "bias"}, {"y"});
  network.add_output("y");
  const auto executor = make_executor(network);
  feed_from(*executor, samplers().at("ordered").make(test::points(4), {{"batch_size", 2}}));
  CHECK(executor->network().input_names() == std::vector<std::string>{"bias"});
  const Tensor bias = Tensor::of<float>({2}, {10, 20});
  const float first = executor->inference({{"bias", bias}}).at("y").tensor().span<float>()[0];
  const float second = executor->inference({{"bias", bias}}).at("y").tensor().span<float>()[0];
  CHECK(first != second);
}

TEST_CASE("recomputed and mixed networks pull one batch a run") {
  for (const ExecutorOptions& options :
       {ExecutorOptions{.recompute = {"conv1"}}, ExecutorOptions{.frameworks = {"auto"}}}) {
    const auto optimizer = lenet(options);
    const auto feed = feed_from(optimizer->executor(), shuffled(20, "drop"));
    for (int step = 0; step < 7; ++step) {
      (void)optimizer->step({});
      CHECK(feed->batch().epoch == step / 5);
      CHECK(feed->batch().index == step % 5);
    }
  }
}

TEST_CASE("what cannot pull is refused") {
  const auto executor = make_executor(test::points_network());
  const auto points = samplers().at("ordered").make(test::points(4), {});
  {
    Network other("other");
    other.add_input("z", DType::float32, {"N"});
    other.add_node("Relu", {"z"}, {"y"});
    other.add_output("y");
    const auto unfed = make_executor(other);
    CHECK_THROWS_AS(feed_from(*unfed, points), NotFound);
    Network wrong("wrong");
    wrong.add_input("x", DType::float64, {"N", std::int64_t{2}});
    wrong.add_node("Relu", {"x"}, {"y"});
    wrong.add_output("y");
    const auto typed = make_executor(wrong);
    CHECK_THROWS_AS(feed_from(*typed, points), TypeError);
  }
  const auto optimizer = test::points_optimizer("sgd");
  feed_from(optimizer->executor(), points);
  CHECK_THROWS_AS(Trainer(*optimizer, *points, nullptr), Unsupported);

  // The network outlives the executor that fed it.
  Network left = test::points_network();
  {
    const auto short_lived = make_executor(left);
    feed_from(*short_lived, points);
  }
  const auto orphan = make_executor(left);
  CHECK_THROWS_AS(orphan->inference({}), Unsupported);
}

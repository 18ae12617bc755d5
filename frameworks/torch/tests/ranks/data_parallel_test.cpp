// SPDX-License-Identifier: Apache-2.0
// Compares torch's own data parallelism with d5's, on the same networks, samples and rules.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/level1_network/source/models.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "d5/level3_distributed/schemes/distributed_training.hpp"
#include "frameworks/torch/tests/own_executor.hpp"

using namespace d5;

namespace {

constexpr int kSteps = 3;

/// A batch of this rank, with its own samples. Rank r may have r more than the others.
Batch images(int step, std::int64_t size, std::int64_t more) {
  const std::int64_t rank = world()->rank(), ranks = world()->size();
  RandomStream random(std::uint64_t(1000 * step + rank));
  Batch batch;
  batch.size = size + more * rank;
  batch.global_size = size * ranks + more * ranks * (ranks - 1) / 2;
  Tensor image = Tensor::empty(DType::float32, {batch.size, 1, 28, 28});
  Tensor label = Tensor::empty(DType::int64, {batch.size});
  for (float& pixel : image.span<float>()) pixel = random.uniform();
  for (auto& one : label.span<std::int64_t>()) one = std::int64_t(random.below(10));
  batch.values = {{"image", image}, {"label", label}};
  return batch;
}

enum class Executor { reference, torch };

/// LeNet, after some steps with a scheme.
std::shared_ptr<DistributedOptimizer> trained(const std::string& scheme, Executor kind,
                                              const Settings& settings = {},
                                              std::int64_t more = 0) {
  Network network = models().at("lenet").make({{"with_loss", true}});
  const std::shared_ptr<GraphExecutor> executor = kind == Executor::torch
                                                      ? test::own_executor(std::move(network))
                                                      : make_executor(std::move(network));
  auto rule = std::dynamic_pointer_cast<ThreeStepOptimizer>(
      optimizers().at("momentum").make(executor, "loss", {{"learning_rate", 0.05}}));
  auto optimizer = find_scheme(scheme).make(rule, world(), settings);
  for (int step = 0; step < kSteps; ++step) optimizer->step(images(step, 4, more));
  return optimizer;
}

double largest_difference(DistributedOptimizer& a, DistributedOptimizer& b) {
  double largest = 0;
  const auto &x = a.executor().network().parameters(), &y = b.executor().network().parameters();
  REQUIRE(x.size() == y.size());
  for (std::size_t p = 0; p < x.size(); ++p) {
    const auto u = x[p].value.span<float>(), v = y[p].value.span<float>();
    for (std::size_t i = 0; i < u.size(); ++i) {
      const double difference = std::abs(double(u[i]) - double(v[i]));
      if (!(difference <= largest)) largest = difference;  // a NaN, too
    }
  }
  return largest;
}

/// Halves are exact, and a sum of two is rounded once in any order. With more ranks, thirds and
/// other orders round at 2^-24, which three steps amplify.
double bound() { return world()->size() <= 2 ? 0 : 5e-6; }

}  // namespace

TEST_CASE("torch's Reducer gives the parameters of d5's synchronous scheme") {
  for (const auto kind : {Executor::reference, Executor::torch}) {
    CAPTURE(int(kind));
    const auto ours = trained("consistent_decentralized", kind);
    // One bucket, and about one per layer, which the first step reorders.
    for (const char* bytes : {"26214400", "1000"}) {
      CAPTURE(bytes);
      const auto theirs =
          trained("torch/ddp", kind, {{"bucket_bytes", bytes}, {"first_bucket_bytes", bytes}});
      CHECK(largest_difference(*ours, *theirs) <= bound());
    }
  }
}

TEST_CASE("torch's Reducer counts samples, not ranks") {
  const auto ours = trained("consistent_decentralized", Executor::torch, {}, 1);
  const auto theirs = trained("torch/ddp", Executor::torch, {}, 1);
  // Shares such as 4/9 are rounded when each rank's loss is multiplied, at a different point in
  // each.
  CHECK(largest_difference(*ours, *theirs) < 5e-6);
}

TEST_CASE("float16 buckets are half as many bytes, and round at 2^-11") {
  const auto ours = trained("consistent_decentralized", Executor::torch);
  const auto bytes = [] { return world()->traffic().by_call.at("all_reduce").bytes_sent; };
  const std::int64_t before = bytes();
  const auto plain = trained("torch/ddp", Executor::torch, {{"all_reduce", "mpi"}});
  const std::int64_t whole = bytes() - before;
  const auto theirs =
      trained("torch/ddp", Executor::torch, {{"all_reduce", "mpi"}, {"hook", "float16"}});
  CHECK(2 * (bytes() - before - whole) == whole);
  // Gradients here are below 1; three steps of 0.05, with momentum, add up six of them.
  const double difference = largest_difference(*ours, *theirs);
  CHECK(difference > 0);
  CHECK(difference < 6 * 0.05 * std::pow(2, -10));
}

TEST_CASE("a parameter without influence keeps its value") {
  Network network("one of two");
  network.add_input("x", DType::float32, {"N", 1});
  network.add_parameter("a", Tensor::of<float>({1}, {2}));
  network.add_parameter("idle", Tensor::of<float>({1}, {3}));
  network.add_node("Mul", {"x", "a"}, {"y"});
  network.add_node("Mul", {"y", "idle"}, {"unread"});
  network.add_node("ReduceMean", {"y"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("loss");
  network.add_output("unread");
  auto rule = std::dynamic_pointer_cast<ThreeStepOptimizer>(
      optimizers().at("sgd").make(test::own_executor(network), "loss", {{"learning_rate", 1}}));
  const auto optimizer = find_scheme("torch/ddp").make(rule, world());
  Batch batch;
  batch.size = 1;
  batch.values = {{"x", Tensor::of<float>({1, 1}, {float(1 + world()->rank())})}};
  for (int step = 0; step < 2; ++step) optimizer->step(batch);
  // The gradient is the mean of 1 ... n; quarters are exact, and n = 3 gives 2.
  Network& after = optimizer->executor().network();
  CHECK(after.parameter("a").value.item<float>() ==
        Approx(2 - 2 * (1 + world()->size()) / 2.0).epsilon(1e-6));  // thirds were rounded
  CHECK(after.parameter("idle").value.item<float>() == 3);
}

TEST_CASE("torch's own scheme says what it does not know") {
  auto rule = std::dynamic_pointer_cast<ThreeStepOptimizer>(optimizers().at("sgd").make(
      make_executor(models().at("lenet").make({{"with_loss", true}})), "loss"));
  const auto& entry = find_scheme("torch/ddp");
  CHECK_THROWS_WITH(entry.make(rule, world(), {{"hook", "zip"}}),
                    Catch::Contains("hook is 'zip', expected none or float16"));
  CHECK_THROWS_AS(entry.make(rule, world(), {{"bucket_byte", 1}}), NotFound);
  CHECK_THROWS_AS(entry.make(rule, world(), {{"all_reduce", "rign"}}), NotFound);
  CHECK_THROWS_WITH(entry.make(rule, world(), {{"process_group", "mine"}}),
                    Catch::Contains("no group named 'mine'"));
  CHECK_THROWS_AS(find_scheme("torch/fsdp"), NotFound);
}

TEST_CASE("a recipe trains by torch's scheme, and its record stands beside d5's") {
  std::map<std::string, std::vector<double>> losses;
  for (const std::string scheme : {"consistent_decentralized", "torch/ddp"}) {
    Recipe recipe = load_recipe("mnist-lenet-quick");
    for (const std::string change :
         {"training.epochs=1", "training.most_batches=3", "sampler.batch_size=24"}) {
      recipe.set(change);
    }
    recipe.set("distributed.name=" + scheme);
    for (const auto& record : train(recipe, {}, world())) {
      if (record.metric != "loss") continue;
      losses[scheme] = record.samples;
      if (world()->size() > 1) CHECK(record.conditions.at("distributed") == scheme);
    }
  }
  const auto &ours = losses["consistent_decentralized"], &theirs = losses["torch/ddp"];
  REQUIRE(ours.size() == 3);
  REQUIRE(theirs.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(theirs[i] == Approx(ours[i]).margin(bound()));
}

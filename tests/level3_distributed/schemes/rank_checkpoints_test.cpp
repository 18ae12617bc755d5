// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/source/models.hpp"
#include "d5/level2_training/training/checkpoint.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/schemes/distributed_training.hpp"
#include "level1_network/nodes/identical.hpp"
#include "tests/level2_training/tiny_recipe.hpp"
#include "tests/level3_distributed/shared_folder.hpp"

using namespace d5;
using testing::SharedFolder;

namespace {

struct NoOptions {
  void declare(OptionList&) {}
};

/// Batch normalization, whose running statistics are each rank's own, and dropout, which draws.
Network normalised(const NoOptions&) {
  Network network("normalised");
  network.add_input("image", DType::float32,
                    {"N", std::int64_t{1}, std::int64_t{28}, std::int64_t{28}});
  network.add_input("label", DType::int64, {"N"});
  std::vector<float> weights(7840);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = float(i % 17) / 170 - 0.05f;
  network.add_parameter("scale", Tensor::vector<float>({1}));
  network.add_parameter("shift", Tensor::vector<float>({0}));
  network.add_constant("mean", Tensor::vector<float>({0}));
  network.add_constant("variance", Tensor::vector<float>({1}));
  network.add_constant("ratio", Tensor::scalar(0.25f));
  network.add_constant("training", Tensor::scalar(true));
  network.add_parameter("weight", Tensor::of<float>({784, 10}, std::span<const float>(weights)));
  network.add_node("BatchNormalization", {"image", "scale", "shift", "mean", "variance"},
                   {"n", "new_mean", "new_variance"}, {{"training_mode", std::int64_t{1}}});
  network.add_update("mean", "new_mean");
  network.add_update("variance", "new_variance");
  network.add_node("Flatten", {"n"}, {"flat"});
  network.add_node("Dropout", {"flat", "ratio", "training"}, {"kept"});
  network.add_node("Gemm", {"kept", "weight"}, {"logits"});
  network.add_node("SoftmaxCrossEntropyLoss", {"logits", "label"}, {"loss"});
  network.add_output("logits");
  network.add_output("loss");
  return network;
}

/// Three batches an epoch, shared by the ranks; ended after so many.
Recipe recipe_of(int batches) {
  static const bool registered = [] {
    models().add("normalised", ModelEntry::with<NoOptions>("test model", normalised));
    return true;
  }();
  CHECK(registered);
  Recipe recipe = Recipe::parse(R"(name: tiny
fixed:
  dataset: {name: mnist, subset: sample, train_samples: 36, test_samples: 10}
  model: {name: normalised}
mutable:
  sampler: {batch_size: 12}
  optimizer: {name: momentum, learning_rate: 0.05}
  training: {epochs: 3, most_batches: 0, seed: 1}
)",
                                "tiny.yaml");
  recipe.set("training.most_batches=" + std::to_string(batches));
  return recipe;
}

std::vector<Measurement> trained_on_ranks(int batches, SessionOptions session) {
  session.checkpoint_every = 2;
  const Recipe recipe = recipe_of(batches);
  return train(recipe, std::move(session), world());
}

std::string part(const std::string& file) {
  const int rank = world()->rank();
  return rank == 0 ? file : file + ".rank-" + std::to_string(rank);
}

/// Metrics of time differ.
void check_same(const std::vector<Measurement>& results, const std::vector<Measurement>& expected) {
  for (const char* metric : {"loss", "training_accuracy", "test_accuracy"}) {
    const auto its = [&](const std::vector<Measurement>& all) {
      return std::ranges::find(all, metric, &Measurement::metric)->samples;
    };
    CAPTURE(metric);
    CHECK(its(results) == its(expected));
  }
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

}  // namespace

TEST_CASE("ranks that resume go on with what is their own, to the bit") {
  const SharedFolder folder;
  const std::string whole = folder / "whole.ckpt", cut = folder / "cut.ckpt";
  const auto expected = trained_on_ranks(7, {.checkpoint = whole});
  (void)trained_on_ranks(4, {.checkpoint = cut});
  CHECK(std::filesystem::exists(part(cut)));
  const auto results = trained_on_ranks(7, {.checkpoint = cut, .resume = cut});
  check_same(results, expected);
  check_same_parts(cut, whole);
  if (world()->size() == 1) return;
  // Each saw other samples: their statistics are not rank 0's.
  const auto mean_in = [](const std::string& file) {
    return read_checkpoint(file).tensors.at("constant/mean").tensor().item<float>();
  };
  if (world()->rank() > 0) CHECK(mean_in(part(whole)) != mean_in(whole));
}

TEST_CASE("a job that was killed between its ranks' writes resumes from what all have") {
  if (world()->size() == 1) return;
  const SharedFolder folder;
  const std::string whole = folder / "whole.ckpt", cut = folder / "cut.ckpt";
  const auto expected = trained_on_ranks(7, {.checkpoint = whole});
  (void)trained_on_ranks(4, {.checkpoint = cut});
  if (world()->rank() == 1) {  // it had not written its last part
    std::filesystem::rename(part(cut) + ".step-3", part(cut));
  }
  world()->barrier();
  check_same(trained_on_ranks(7, {.checkpoint = cut, .resume = cut}), expected);
  check_same_parts(cut, whole);
}

TEST_CASE("a rank whose part is missing is named on every rank") {
  if (world()->size() == 1) return;
  const SharedFolder folder;
  const std::string file = folder / "run.ckpt";
  (void)trained_on_ranks(2, {.checkpoint = file});
  if (world()->rank() == 1) {
    std::filesystem::remove(part(file));
    std::filesystem::remove(part(file) + ".step-2");
  }
  world()->barrier();
  CHECK_THROWS_WITH(trained_on_ranks(7, {.checkpoint = file, .resume = file}),
                    Catch::Contains("rank 1 has none") && Catch::Contains("rank 0 has step 2"));
  // One that does not see FILE, which is rank 0's, resumes with the others.
  const std::string other = folder / "other.ckpt";
  (void)trained_on_ranks(4, {.checkpoint = other});
  const auto results =
      trained_on_ranks(7, {.checkpoint = other, .resume = world()->rank() == 0 ? other : ""});
  CHECK(std::ranges::find(results, "loss", &Measurement::metric)->samples.size() == 7);
}

namespace {

/// Trained until it has seen so many batches; the weights, and all ranks have the same.
std::vector<float> weights_after(int batches, SessionOptions session,
                                 const std::shared_ptr<Communicator>& ranks,
                                 const std::string& change = "") {
  Recipe recipe = test::tiny_recipe();
  recipe.set("training.epochs=5");
  recipe.set("training.most_batches=" + std::to_string(batches));
  recipe.set("sampler.batch_size=12");  // shared by 1 to 4 ranks; two batches of 20 samples
  if (!change.empty()) recipe.set(change);
  struct Last final : TrainingEvent {
    std::vector<float> values;
    void after_training(Trainer& trainer) override {
      const Tensor all = trainer.optimizer().executor().network().parameter_arena();
      values.assign(all.data<float>(), all.data<float>() + all.elements());
    }
  };
  const auto last = std::make_shared<Last>();
  session.observers.push_back(last);
  (void)train(recipe, std::move(session), ranks);
  return last->values;
}

}  // namespace

TEST_CASE("what some ranks saved others go on with, where no rank keeps anything of its own") {
  const int size = world()->size();
  for (int writers = 1; writers < size; ++writers) {
    CAPTURE(writers);
    const SharedFolder folder;
    const std::string file = folder / "run.ckpt";
    const auto some = world()->split(world()->rank() < writers ? 0 : -1);
    if (some) (void)weights_after(3, {.checkpoint = file}, some);
    world()->barrier();
    const auto resumed = weights_after(5, {.resume = file}, world());
    const auto whole = weights_after(5, {}, world());
    double worst = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      worst = std::max(worst, double(std::abs(resumed[i] - whole[i])));
    }
    // Only the gradients of 3 steps were summed in another order: each is off by some roundings of
    // 6e-8 of numbers below 1.
    CHECK(worst < 1e-6);
    // The reverse: one rank resumes a checkpoint of all ranks.
    (void)weights_after(3, {.checkpoint = file}, world());
    world()->barrier();
    const auto one = world()->split(world()->rank() == 0 ? 0 : -1);
    if (one) CHECK_NOTHROW(weights_after(5, {.resume = file}, one));
    world()->barrier();
  }
}

TEST_CASE("another number of ranks is refused by name where each keeps something of its own") {
  if (world()->size() < 3) return;
  const SharedFolder folder;
  const std::string file = folder / "run.ckpt";
  const std::string sharded = "distributed.name=consistent_decentralized:exchange=sharded";
  const auto some = world()->split(world()->rank() < 2 ? 0 : -1);
  if (some) (void)weights_after(3, {.checkpoint = file}, some, sharded);
  world()->barrier();
  CHECK_THROWS_WITH(weights_after(5, {.resume = file}, world(), sharded),
                    Catch::Contains("written by 2 ranks") && Catch::Contains("exchange dense"));
}

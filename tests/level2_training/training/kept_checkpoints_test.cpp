// SPDX-License-Identifier: Apache-2.0
// What checkpoints hold besides parameters, how many are kept, and their memory.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level2_training/training/checkpoint.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "tests/level2_training/points.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

namespace fs = std::filesystem;

std::shared_ptr<Sampler> training_points() {
  return samplers().at("shuffle").make(test::points(40), {{"batch_size", 8}, {"seed", 5}});
}

std::vector<std::string> names_in(const testing::TemporaryFolder& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

/// Momentum of a user's who forgets to give its memory away.
class Forgetful final : public UpdateRuleOptimizer {
 public:
  using UpdateRuleOptimizer::UpdateRuleOptimizer;
  void update_rule(const Tensor& gradient, Parameter& parameter, std::size_t) override {
    ++updates_;
    const auto g = gradient.span<float>();
    const auto w = parameter.value.span<float>();
    for (std::size_t i = 0; i < g.size(); ++i) w[i] -= 0.1f / float(updates_) * g[i];
  }
  [[nodiscard]] ValueMap rule_state() const override {
    return {{"updates", Tensor::scalar(updates_)}};
  }
  void restore_rule(const ValueMap&) override {}

 private:
  std::int64_t updates_ = 0;
};

/// Bytes of this process's own memory, files that it maps not among them.
std::int64_t own_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "RssAnon:") continue;
    std::int64_t kibibytes = 0;
    status >> kibibytes;
    return kibibytes * 1024;
  }
  return -1;
}

/// Growth of resident memory during `work`, sampled every 200 microseconds.
template <class Work>
std::int64_t growth_during(Work work) {
  const std::int64_t before = own_memory();
  std::atomic<bool> done = false;
  std::int64_t most = 0;
  std::thread watch([&] {
    while (!done) {
      most = std::max(most, own_memory() - before);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  work();
  done = true;
  watch.join();
  return most;
}

}  // namespace

TEST_CASE("the last checkpoints are kept under their steps, and each can be resumed") {
  const testing::TemporaryFolder folder;
  const auto train = training_points();
  const auto optimizer = test::points_optimizer("adam");
  Trainer whole(
      *optimizer, *train, nullptr,
      {.epochs = 4, .checkpoint = folder / "c", .checkpoint_every = 3, .checkpoints_kept = 3});
  whole.run();  // 20 steps: 3 5 6 9 10 12 15 18 20
  CHECK(names_in(folder) == std::vector<std::string>{"c", "c.step-15", "c.step-18"});
  CHECK(read_checkpoint(folder / "c").step == 20);
  for (const std::int64_t step : {15, 18}) {
    const auto again = test::points_optimizer("adam");
    const auto sampler = training_points();
    Trainer resumed(*again, *sampler, nullptr, {.epochs = 4});
    resumed.resume(folder / fmt::format("c.step-{}", step));
    CHECK(resumed.step() == step);
    resumed.run();
    CHECK(test::parameters(*again) == test::parameters(*optimizer));
  }
}

TEST_CASE("one checkpoint is kept unless more are asked for, and other files stay") {
  const testing::TemporaryFolder folder;
  for (const char* other : {"c.step-7", "c.step-old", "d.step-1"}) {
    std::ofstream(folder / other) << "mine";
  }
  const auto train = training_points();
  const auto optimizer = test::points_optimizer("sgd");
  for (const std::int64_t kept : {1, 2}) {
    Trainer trainer(*optimizer, *train, nullptr,
                    {.epochs = 2, .checkpoint = folder / "c", .checkpoints_kept = kept});
    trainer.run();
    const auto names = names_in(folder);
    CHECK(std::ranges::count(names, "c.step-old") == 1);
    CHECK(std::ranges::count(names, "d.step-1") == 1);
    CHECK(std::ranges::count(names, "c.step-7") == (kept == 1 ? 1 : 0));  // one of its older ones
  }
  CHECK_THROWS_AS(Trainer(*optimizer, *train, nullptr, {.checkpoints_kept = 0}), ValueError);
}

TEST_CASE("a learning rate that was changed on the way is changed after resuming") {
  const testing::TemporaryFolder folder;
  const auto train = training_points();
  const auto whole = test::points_optimizer("adam");
  whole->hyper_parameters().set("learning_rate", 0.025);
  Trainer first(*whole, *train, nullptr, {.epochs = 2, .most_batches = 4});
  first.run();
  first.save_checkpoint(folder / "c");
  Trainer rest(*whole, *train, nullptr, {.epochs = 2});
  rest.resume(folder / "c");
  rest.run();
  const auto again = test::points_optimizer("adam");
  Trainer resumed(*again, *train, nullptr, {.epochs = 2});
  resumed.resume(folder / "c");
  CHECK(again->hyper_parameters().at("learning_rate") == 0.025);
  resumed.run();
  CHECK(test::parameters(*again) == test::parameters(*whole));
}

TEST_CASE("an optimizer that does not take its state over is not resumed") {
  const testing::TemporaryFolder folder;
  const auto train = training_points();
  Forgetful first(make_executor(test::points_network()), "loss");
  Trainer trainer(first, *train, nullptr, {.checkpoint = folder / "c"});
  trainer.run();
  Forgetful second(make_executor(test::points_network()), "loss");
  const auto before = test::parameters(second);
  Trainer resumed(second, *train, nullptr);
  CHECK_THROWS_AS(resumed.resume(folder / "c"), FormatError);
  CHECK_THROWS_WITH(resumed.resume(folder / "c"), Catch::Contains("'updates'"));
  CHECK(test::parameters(second) == before);
  // adam remembers more than momentum or sgd.
  const auto adam = test::points_optimizer("adam"), sgd = test::points_optimizer("sgd");
  Trainer(*adam, *train, nullptr).save_checkpoint(folder / "adam");
  Trainer of_sgd(*sgd, *train, nullptr);
  CHECK_THROWS_WITH(of_sgd.resume(folder / "adam"), Catch::Contains("optimizer.beta1: 0.9 in"));
}

TEST_CASE("running statistics that a checkpoint lacks, and constants of others, are refused") {
  const testing::TemporaryFolder folder;
  const auto train = training_points();
  const auto optimizer = test::points_optimizer("sgd", {}, 0.5f);
  Trainer trainer(*optimizer, *train, nullptr);
  trainer.save_checkpoint(folder / "c");
  Checkpoint changed = read_checkpoint(folder / "c");
  changed.tensors["constant/other"] = Tensor::scalar(1.0f);
  write_checkpoint(changed, folder / "c");
  CHECK_THROWS_WITH(trainer.resume(folder / "c"), Catch::Contains("'other'"));
  changed.tensors.erase("constant/other");
  changed.tensors["constant/ratio"] = Tensor::of<float>({2}, {1, 1});
  write_checkpoint(changed, folder / "c");
  CHECK_THROWS_WITH(trainer.resume(folder / "c"), Catch::Contains("constant 'ratio'"));
}

TEST_CASE("what is broken says where, what was given and what was expected") {
  const testing::TemporaryFolder folder;
  write_checkpoint({.recipe = "r", .tensors = {{"parameter/w", Tensor::of<float>({3}, {1, 2, 3})}}},
                   folder / "c");
  const std::string whole = read_file(folder / "c");
  write_file(folder / "c", whole.substr(0, whole.size() - 5));
  CHECK_THROWS_WITH(read_checkpoint(folder / "c"),
                    Catch::Contains(fmt::format("byte {}", whole.size() - 5)) &&
                        Catch::Contains("7 bytes of tensors") && Catch::Contains("promises 12") &&
                        Catch::Contains("truncated") && Catch::Contains("step-N"));
  std::string flipped = whole;
  flipped.back() = char(flipped.back() ^ 1);
  write_file(folder / "c", flipped);
  CHECK_THROWS_WITH(read_checkpoint(folder / "c"),
                    Catch::Contains("SHA-256") && Catch::Contains("earlier one"));
}

TEST_CASE("a tensor of a checkpoint may be written and outlives all else, the file unchanged") {
  const testing::TemporaryFolder folder;
  write_checkpoint({.recipe = "r", .tensors = {{"parameter/w", Tensor::of<float>({3}, {1, 2, 3})}}},
                   folder / "c");
  Tensor tensor;
  {
    Checkpoint checkpoint = read_checkpoint(folder / "c");
    tensor = checkpoint.tensors.at("parameter/w").tensor();
  }
  fs::rename(folder / "c", folder / "d");
  tensor.span<float>()[1] = 7;
  CHECK(tensor.span<float>()[2] == 3);
  CHECK(read_checkpoint(folder / "d").tensors.at("parameter/w").tensor().span<float>()[1] == 2);
}

TEST_CASE("writing and reading take no second copy in memory") {
  constexpr std::int64_t kMebi = 1 << 20, kTensors = 16, kEach = 8 * kMebi;
  const testing::TemporaryFolder folder;
  Checkpoint checkpoint{.recipe = "r"};
  for (std::int64_t i = 0; i < kTensors; ++i) {
    Tensor tensor = Tensor::empty(DType::float32, {kEach / 4});
    std::ranges::fill(tensor.span<float>(), float(i));
    checkpoint.tensors[fmt::format("parameter/{}", i)] = tensor;
  }
  // 128 MiB are written and read; a tenth is left for whatever else the process does.
  constexpr std::int64_t kMost = kTensors * kEach / 10;
  CHECK(growth_during([&] { write_checkpoint(checkpoint, folder / "c"); }) < kMost);
  Tensor into = Tensor::empty(DType::float32, {kEach / 4});
  std::ranges::fill(into.span<float>(), 0.0f);
  const std::int64_t reading = growth_during([&] {
    const Checkpoint read = read_checkpoint(folder / "c");
    for (const auto& [name, value] : read.tensors) into.copy_from(value.tensor());
  });
  CHECK(reading < kMost);
  CHECK(into.span<float>()[0] == float(9));  // the last name is parameter/9
  // The judge sees a copy where there is one.
  const std::int64_t copying = growth_during([&] {
    std::vector<Tensor> copies;
    for (const auto& [name, value] : checkpoint.tensors) copies.push_back(value.tensor().copy());
  });
  CHECK(copying > kTensors * kEach / 2);
}

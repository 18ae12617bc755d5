// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <regex>

#include "d5/core/entries/loadable_frameworks.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/files/carried_file.hpp"
#include "d5/core/image/image.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/level2_training/training/training_session.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

std::string random_bytes(std::size_t count, std::uint64_t seed) {
  RandomStream random(seed);
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = char(random.below(256));
  return bytes;
}

/// Files of CIFAR-10's format, with few images.
void write_cifar(const testing::TemporaryFolder& folder) {
  const auto write = [&](const std::string& name, int images, std::uint64_t seed) {
    std::string file;
    for (int i = 0; i < images; ++i) file += char(i % 10) + random_bytes(3072, seed + i);
    write_file(folder / name, file);
  };
  for (int i = 1; i <= 5; ++i) write("data_batch_" + std::to_string(i) + ".bin", 4, 100 * i);
  write("test_batch.bin", 4, 900);
}

/// ImageNet's folders, with few classes.
void write_imagenet(const testing::TemporaryFolder& folder) {
  for (const std::string part : {"train", "val"}) {
    for (const std::string id : {"n01484850", "n01514668"}) {
      const auto classes = folder.path() / part / id;
      std::filesystem::create_directories(classes);
      for (int i = 0; i < 2; ++i) {
        Tensor image = Tensor::empty(DType::uint8, {230, 260, 3});
        const std::string pixels = random_bytes(image.bytes(), std::uint64_t(i));
        std::ranges::copy(pixels, static_cast<char*>(image.raw()));
        write_file((classes / (id + "_" + std::to_string(i) + ".png")).string(), encode_png(image));
      }
    }
  }
}

bool has(std::string_view framework) {
  return std::ranges::any_of(loadable_frameworks(),
                             [&](const Framework* one) { return one->name() == framework; });
}

/// A hundred of a small network; of those that take minutes for it, as many as show that one
/// follows the other.
constexpr std::int64_t kSteps = 100, kStepsOfLargeOnes = 10;

/// The fastest of those that are here.
std::vector<std::string> fastest_frameworks() {
  std::vector<std::string> result = {"onednn", "torch", "reference"};
  std::erase_if(result, [](const std::string& name) { return !has(name); });
  return result;
}

/// Trains the built-in recipe for that many steps with batches of two of the few samples, and one
/// test run.
std::vector<Measurement> trained(const std::string& name, const std::string& data,
                                 std::int64_t steps) {
  std::string text = read_file(carried_file("recipes/" + name + ".yaml"), 1 << 20);
  text = std::regex_replace(text, std::regex(" *(train|test)_samples: [0-9]+\n"), "");
  text = text.substr(0, text.find("acceptable:"));  // so few reach nothing
  const std::string length = std::to_string(steps);
  text = std::regex_replace(
      text, std::regex("epochs: [0-9]+, most_batches: [0-9]+"),
      "epochs: " + length + ", most_batches: " + length + ", test_every: " + length);
  Recipe recipe = Recipe::parse(text, name + ".yaml");
  // The rate goes with the batch: Goyal et al. (2017), section 2.1.
  const double batch = recipe.section("sampler").number("batch_size", 64);
  const double rate = recipe.section("optimizer").number("learning_rate", 0);
  recipe.set("optimizer.learning_rate=" + std::to_string(rate * 2 / batch));
  recipe.set("sampler.batch_size=2");
  set_threads(1);  // several would wait for each other while another test has a core
  return TrainingSession(recipe, {.frameworks = fastest_frameworks(), .data = data}).run();
}

void check_trains(const std::string& name, const std::string& data,
                  std::int64_t steps = kStepsOfLargeOnes) {
  CAPTURE(name);
  const auto results = trained(name, data, steps);
  const auto loss = std::ranges::find(results, "loss", &Measurement::metric);
  CAPTURE(loss->reason);
  REQUIRE(std::ssize(loss->samples) == steps);
  for (const auto& result : results) {
    CAPTURE(result.metric, result.reason);
    CHECK(result.status != Status::failed);
  }
}

}  // namespace

TEST_CASE("recipes of ResNets for CIFAR-10 train on files of its format") {
  const testing::TemporaryFolder folder;
  write_cifar(folder);
  for (const std::string& name : carried_recipes()) {
    if (!name.starts_with("cifar10-resnet")) continue;
    check_trains(name, folder.path().string(),
                 name == "cifar10-resnet20" ? kSteps : kStepsOfLargeOnes);
  }
}

TEST_CASE("the recipe of a wide ResNet trains on files of CIFAR-10's format") {
  const testing::TemporaryFolder folder;
  write_cifar(folder);
  check_trains("cifar10-wide-resnet-28-10", folder.path().string());
}

TEST_CASE("recipes of a part of CIFAR-10 train on photographs") {
  const testing::TemporaryFolder folder;
  write_cifar(folder);
  check_trains("cifar10-subset-resnet20", folder.path().string());
  check_trains("cifar10-subset-resnet18", folder.path().string());
}

TEST_CASE("the recipe of ImageNet trains on folders of its format") {
  const testing::TemporaryFolder folder;
  write_imagenet(folder);
  check_trains("imagenet-resnet50", folder.path().string());
}

TEST_CASE("the recipes of bytes train on any file") {
  const testing::TemporaryFolder folder;
  write_file(folder / "text", random_bytes(4000, 1));
  check_trains("bytes-lstm", folder / "text", kSteps);
  check_trains("bytes-decoder", folder / "text", kSteps);
}

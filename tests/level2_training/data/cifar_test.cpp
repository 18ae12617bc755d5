// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/tensor.hpp"
#include "d5/level2_training/data/dataset.hpp"
#include "d5/level2_training/training/training_session.hpp"
#include "tests/tar_member.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

namespace fs = std::filesystem;

/// Images of one colour: label, then red, green and blue.
std::string cifar_images(int count, char label = 7) {
  std::string one(1, label);
  for (const char value : {'\x33', '\x66', '\xff'}) one += std::string(32 * 32, value);
  std::string all;
  for (int i = 0; i < count; ++i) all += one;
  return all;
}

/// A folder with a small CIFAR-10, to be broken file by file.
class CifarFolder : testing::TemporaryFolder {
 public:
  CifarFolder() {
    put("data_batch_1.bin", cifar_images(3));
    put("test_batch.bin", cifar_images(2, 4));
  }
  using TemporaryFolder::operator/;
  void put(const std::string& name, const std::string& content) const {
    std::ofstream(path() / name, std::ios::binary) << content;
  }
  void remove(const std::string& name) const { fs::remove(path() / name); }
  [[nodiscard]] std::string data() const { return path().string(); }
  [[nodiscard]] DatasetPair open(std::map<std::string, std::string, std::less<>> settings = {},
                                 const Interrupt& interrupt = {},
                                 const std::string& name = "cifar-10") const {
    settings.try_emplace("data", data());
    return open_dataset(name, Settings("", settings), interrupt);
  }
};

/// CIFAR-10's archive with a small file each.
std::string archive(const std::string& test_name = "test_batch.bin") {
  std::string all = testing::tar_member("folder/batches.meta.txt", "airplane");
  for (int i = 1; i <= 5; ++i) {
    all += testing::tar_member("folder/data_batch_" + std::to_string(i) + ".bin", cifar_images(i));
  }
  return all + testing::tar_member("folder/" + test_name, cifar_images(2, 4)) +
         std::string(1024, '\0');
}

}  // namespace

TEST_CASE("a pixel is scaled to [0, 1] and normalised by its channel's mean and deviation") {
  const CifarFolder folder;
  const std::int64_t index = 1;
  std::vector<Tensor> batch{Tensor::empty(DType::float32, {1, 3, 32, 32}),
                            Tensor::empty(DType::int64, {1})};
  folder.open().test->read(std::span(&index, 1), {}, batch);
  const auto pixels = batch[0].span<float>();
  CHECK(pixels[1023] == Approx((0.2 - 0.4914) / 0.2470).epsilon(1e-6));
  CHECK(pixels[1024] == Approx((0.4 - 0.4822) / 0.2435).epsilon(1e-6));
  CHECK(pixels[3071] == Approx((1.0 - 0.4465) / 0.2616).epsilon(1e-6));
  CHECK(batch[1].item<std::int64_t>() == 4);
}

TEST_CASE("the training set is of all files that are there, or of the first samples") {
  const CifarFolder folder;
  CHECK(folder.open().train->size() == 3);
  folder.put("data_batch_4.bin", cifar_images(2));
  const auto pair = folder.open();
  CHECK(pair.train->size() == 5);
  CHECK(pair.train->artefacts().size() == 2);
  CHECK(folder.open({{"train_samples", "4"}}).train->size() == 4);
  CHECK_THROWS_WITH(folder.open({{"train_samples", "9"}}),
                    Catch::Contains("train_samples is 9, but it has 5 samples; 0 takes all"));
}

TEST_CASE("a file that is missing, cut, too long or of other labels is refused") {
  const CifarFolder folder;
  folder.put("data_batch_1.bin", cifar_images(3).substr(0, 2 * 3073 + 5));
  CHECK_THROWS_WITH(folder.open(), Catch::Contains("image 2 ends after 5 bytes"));
  CHECK_THROWS_AS(folder.open(), FormatError);
  folder.put("data_batch_1.bin", cifar_images(10'001));
  CHECK_THROWS_WITH(folder.open(), Catch::Contains("more than the 10000 images"));
  folder.put("data_batch_1.bin", cifar_images(1) + cifar_images(1, 10));
  CHECK_THROWS_WITH(folder.open(), Catch::Contains("label 1 is 10"));
  folder.put("data_batch_1.bin", "");
  CHECK_THROWS_WITH(folder.open(), Catch::Contains("no image"));
  folder.remove("data_batch_1.bin");
  CHECK_THROWS_AS(folder.open(), IoError);
  CHECK_THROWS_WITH(folder.open(), Catch::Contains("data_batch_1.bin.gz"));
}

TEST_CASE("the published archive is read as it is, packed or not") {
  const CifarFolder folder;
  folder.remove("data_batch_1.bin");
  folder.remove("test_batch.bin");
  folder.put("cifar-10-binary.tar.gz", archive());
  const auto pair = folder.open();
  CHECK(pair.train->size() == 1 + 2 + 3 + 4 + 5);
  CHECK(pair.test->size() == 2);
  CHECK(pair.test->labels("label") == std::vector<std::int64_t>{4, 4});
  CHECK(pair.train->artefacts().size() == 1);
  CHECK(folder.open({{"data", folder / "cifar-10-binary.tar.gz"}}).train->size() == 15);
}

TEST_CASE("every truncation of the archive, and one of other files, is refused") {
  const CifarFolder folder;
  const std::string name = folder / "a.tar.gz", whole = archive();
  for (std::size_t size = 0; size < whole.size() - 1024; size += 1009) {
    CAPTURE(size);
    folder.put("a.tar.gz", whole.substr(0, size));
    CHECK_THROWS_AS(folder.open({{"data", name}}), FormatError);
  }
  folder.put("a.tar.gz", archive("other.bin"));
  CHECK_THROWS_WITH(folder.open({{"data", name}}), Catch::Contains("no file test_batch.bin"));
  folder.put("a.tar.gz", cifar_images(1));
  CHECK_THROWS_AS(folder.open({{"data", name}}), FormatError);
}

TEST_CASE("CIFAR-100's images have a group before their class, and one is the label") {
  const CifarFolder folder;
  const std::string one = std::string("\x13") + cifar_images(1, 99);
  folder.put("train.bin", one + one);
  folder.put("test.bin", one);
  const auto open = [&](const std::string& labels) {
    return folder.open({{"labels", labels}}, {}, "cifar-100");
  };
  CHECK(open("fine").train->labels("label") == std::vector<std::int64_t>{99, 99});
  CHECK(open("coarse").test->labels("label") == std::vector<std::int64_t>{19});
  CHECK(open("fine").train->name() == "cifar-100-train");
  folder.put("test.bin", std::string("\x14") + cifar_images(1, 99));
  CHECK_THROWS_WITH(open("fine"), Catch::Contains("label 0 is 20, expected 0 to 19"));
  folder.put("test.bin", one.substr(1));
  CHECK_THROWS_AS(open("fine"), FormatError);
}

TEST_CASE("mean and deviation are one for each channel") {
  const CifarFolder folder;
  const auto pair = folder.open({{"mean", "0,0,0"}, {"deviation", "1,1,2"}});
  std::vector<Tensor> batch = empty_batch(*pair.test, 1);
  pair.test->read(std::vector<std::int64_t>{0}, {}, batch);
  CHECK(batch[0].span<float>()[0] == Approx(0.2).epsilon(1e-6));
  CHECK(batch[0].span<float>()[3071] == Approx(0.5).epsilon(1e-6));
  CHECK_THROWS_AS(folder.open({{"mean", "0,0"}}), ValueError);
  CHECK_THROWS_AS(folder.open({{"deviation", "1,0,1"}}), ValueError);
}

TEST_CASE("an interrupt ends opening at each file") {
  const CifarFolder folder;
  int questions = 0;
  (void)folder.open({}, {.wished = [&] { return ++questions < 0; }});
  CHECK(questions >= 2);
  for (int last = 1; last <= questions; ++last) {
    CAPTURE(last);
    int left = last;
    CHECK_THROWS_AS(folder.open({}, {.wished = [&] { return --left <= 0; }}), Interrupted);
  }
}

TEST_CASE("ResNet-20 learns the one image that it is shown") {
  const CifarFolder folder;
  const Recipe recipe = Recipe::parse(R"(name: one-image
fixed:
  dataset: {name: cifar-10}
  model: {name: resnet-20, training: true}
mutable:
  sampler: {name: shuffle, batch_size: 3}
  optimizer: {name: momentum, learning_rate: 0.1, momentum: 0.9}
  training: {epochs: 4, seed: 1}
)",
                                      "one-image.yaml");
  const RecipeRun run = run_recipe(recipe, {.data = folder.data()});
  const auto loss = std::ranges::find(run.results.measurements, "loss", &Measurement::metric);
  REQUIRE(loss != run.results.measurements.end());
  REQUIRE(loss->samples.size() == 4);
  CHECK(loss->samples.back() < loss->samples.front() / 2);
}

TEST_CASE("packed files of real photographs have the mean and deviation of all of them") {
  const char* shared = std::getenv("D5_DATA_DIR");
  if (!shared || !fs::exists(fs::path(shared) / "cifar10-jpeg-subset")) {
    WARN("skipped: D5_DATA_DIR has no cifar10-jpeg-subset");
    return;
  }
  const auto pair = open_dataset(
      "cifar-10",
      {{"data", (fs::path(shared) / "cifar10-jpeg-subset").string()}, {"train_samples", 1000}});
  CHECK(pair.test->size() == 2000);
  std::vector<std::int64_t> indices(1000);
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = std::int64_t(i);
  std::vector<Tensor> batch{Tensor::empty(DType::float32, {1000, 3, 32, 32}),
                            Tensor::empty(DType::int64, {1000})};
  pair.train->read(indices, {}, batch);
  double sum = 0, squares = 0;
  for (const float value : batch[0].span<float>()) {
    sum += value;
    squares += double(value) * value;
  }
  const auto count = double(batch[0].elements());
  // A thousand of 50,000 images: their means scatter by some 0.03.
  CHECK(sum / count == Approx(0).margin(0.1));
  CHECK(squares / count == Approx(1).margin(0.1));
}

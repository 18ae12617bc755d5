// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/container.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <thread>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level2_training/data/tensor_dataset.hpp"
#include "tests/interrupted_everywhere.hpp"
#include "tests/level2_training/mixed_samples.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using test::check_same;
using test::MixedSamples;
namespace fs = std::filesystem;

namespace {

/// Those that keep samples of any fields.
constexpr const char* kAll[] = {"raw", "npz", "tar", "tfrecord"};

std::string file_of(const testing::TemporaryFolder& folder, const std::string& stem,
                    const std::string& container) {
  return folder / (stem + "." + containers().at(container).make()->extension());
}

std::vector<std::string> paths_of(const std::vector<ContainerFile>& files) {
  std::vector<std::string> paths;
  for (const auto& file : files) paths.push_back(file.path);
  return paths;
}

}  // namespace

TEST_CASE("samples written into a container are read back, to the bit") {
  for (const char* container : kAll) {
    CAPTURE(container);
    for (const std::int64_t size : {1, 2, 40}) {
      const testing::TemporaryFolder folder;
      const std::string path = file_of(folder, "a", container);
      const MixedSamples samples(size);
      CHECK(paths_of(convert(samples, container, path)) == std::vector<std::string>{path});
      const auto read = open_container(container, path);
      check_same(*read, samples);
      CHECK(read->labels("label") == samples.labels("label"));
      CHECK(read->sample_shape(3, size - 1) == samples.sample_shape(3, size - 1));
      CHECK(read->artefacts().size() == 1);
    }
  }
}

TEST_CASE("from one container into another and back the file is the same") {
  for (const char* first : kAll) {
    for (const char* second : kAll) {
      CAPTURE(first, second);
      const testing::TemporaryFolder folder;
      const std::string a = file_of(folder, "a", first), b = file_of(folder, "b", second),
                        c = file_of(folder, "c", first);
      convert(MixedSamples(11), first, a);
      convert(*open_container(first, a), second, b);
      convert(*open_container(second, b), first, c);
      CHECK(read_file(a) == read_file(c));
    }
  }
}

TEST_CASE("no samples are kept, too") {
  for (const char* container : kAll) {
    CAPTURE(container);
    const testing::TemporaryFolder folder;
    const std::string path = file_of(folder, "a", container);
    convert(MixedSamples(0), container, path);
    check_same(*open_container(container, path), MixedSamples(0));
  }
}

TEST_CASE("samples are the same in one file and in many") {
  const MixedSamples samples(70);
  for (const char* container : kAll) {
    CAPTURE(container);
    const testing::TemporaryFolder folder;
    const std::string path = file_of(folder, "a", container);
    const auto files = convert(samples, container, path, {.shards = 64});
    CHECK(files.size() == 64);
    CHECK(files.front().path == file_of(folder, "a-00000-of-00064", container));
    CHECK(files.back().path == file_of(folder, "a-00063-of-00064", container));
    check_same(*open_container(container, path), samples);
    check_same(*open_container(container, folder.path().string()), samples);
  }
}

TEST_CASE("shards that TensorFlow names, without an ending, are records") {
  const MixedSamples samples(6);
  const testing::TemporaryFolder folder;
  for (const auto& file : convert(samples, "tfrecord", folder / "train.tfrecord", {.shards = 3})) {
    std::filesystem::rename(file.path, std::filesystem::path(file.path).replace_extension());
  }
  for (const std::string& path :
       {folder / "train", folder.path().string(), folder / "train-00001-of-00003"}) {
    INFO(path);
    CHECK(container_of(path) == "tfrecord");
  }
  CHECK(open_container("tfrecord", folder / "train")->size() == 6);
  CHECK(open_container("tfrecord", folder.path().string())->size() == 6);
  CHECK_THROWS_AS(container_of(folder / "test"), NotFound);
}

TEST_CASE("shards are limited by samples or bytes, and may be rewritten") {
  const MixedSamples samples(10);
  for (const char* container : kAll) {
    CAPTURE(container);
    const testing::TemporaryFolder folder;
    const std::string path = file_of(folder, "a", container);
    CHECK(convert(samples, container, path, {.shard_samples = 4}).size() == 3);
    check_same(*open_container(container, path), samples);
    CHECK(convert(samples, container, path, {.shard_samples = 4}).size() == 3);
    CHECK_THROWS_WITH(convert(samples, container, path), Catch::Contains("in the way"));
    check_same(*open_container(container, path), samples);

    const std::string other = file_of(folder, "b", container);
    const auto files = convert(samples, container, other, {.shard_bytes = 400});
    CHECK(files.size() > 1);
    check_same(*open_container(container, other), samples);
    fs::remove(files[1].path);
    CHECK_THROWS_AS(open_container(container, other), FormatError);
    CHECK_THROWS_WITH(open_container(container, other), Catch::Contains("is missing"));
  }
}

TEST_CASE("a conversion that ends before its time leaves what was there") {
  for (const char* container : kAll) {
    CAPTURE(container);
    const testing::TemporaryFolder folder;
    const std::string path = file_of(folder, "a", container);
    convert(MixedSamples(3), container, path);
    const auto before = folder.names();
    int left = 5;
    const Interrupt interrupt{.wished = [&] { return --left <= 0; }};
    CHECK_THROWS_AS(convert(MixedSamples(9), container, path, {.interrupt = interrupt}),
                    Interrupted);
    CHECK(folder.names() == before);
    check_same(*open_container(container, path), MixedSamples(3));
  }
}

TEST_CASE("opening ends where it is interrupted") {
  for (const char* container : kAll) {
    CAPTURE(container);
    const testing::TemporaryFolder folder;
    const std::string path = file_of(folder, "a", container);
    convert(MixedSamples(5), container, path);
    for (const auto& file : folder.names()) {
      if (file.ends_with(".index")) fs::remove(folder / file);
    }
    const auto open = [&](const Interrupt& interrupt) {
      (void)open_container(container, path, {}, interrupt);
    };
    CHECK(testing::interrupted_everywhere(open) >= 1);
  }
}

TEST_CASE("threads read the same samples") {
  const MixedSamples samples(60);
  for (const char* container : kAll) {
    CAPTURE(container);
    const testing::TemporaryFolder folder;
    const std::string path = file_of(folder, "a", container);
    convert(samples, container, path, {.shards = 7});
    const auto read = open_container(container, path);
    std::vector<int> wrong(4);
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < wrong.size(); ++t) {
      threads.emplace_back([&, t] {
        std::vector<Tensor> a = empty_batch(*read, 1), b = empty_batch(samples, 1);
        for (std::int64_t i = 0; i < 600; ++i) {
          const std::int64_t index = i * std::int64_t(7 + t) % 60;
          read->read(std::span(&index, 1), {}, a);
          samples.read(std::span(&index, 1), {}, b);
          for (std::size_t f = 0; f < a.size(); ++f) wrong[t] += !test::same_elements(a[f], b[f]);
        }
      });
    }
    threads.clear();
    CHECK(wrong == std::vector<int>(4));
  }
}

TEST_CASE("a batch of samples of one shape is read at once, and only what fits") {
  const TensorDataset points("points", {{"x", Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6})},
                                        {"label", Tensor::vector<std::int64_t>({7, 8, 9})}});
  for (const char* container : kAll) {
    CAPTURE(container);
    const testing::TemporaryFolder folder;
    const std::string path = file_of(folder, "a", container);
    convert(points, container, path, {.shards = 2});
    const auto read = open_container(container, path);
    std::vector<Tensor> batch = empty_batch(*read, 3);
    const std::vector<std::int64_t> order{2, 0, 2};
    read->read(order, {}, batch);
    const auto x = batch[0].span<float>();
    CHECK(std::vector<float>(x.begin(), x.end()) == std::vector<float>{5, 6, 1, 2, 5, 6});
    const auto label = batch[1].span<std::int64_t>();
    CHECK(std::vector<std::int64_t>(label.begin(), label.end()) ==
          std::vector<std::int64_t>{9, 7, 9});
    const std::vector<std::int64_t> outside{0, 1, 3};
    CHECK_THROWS_AS(read->read(outside, {}, batch), ValueError);
    CHECK_THROWS_AS(read->sample_name(3), ValueError);
  }
}

TEST_CASE("requests that cannot be met are refused with the way out") {
  const testing::TemporaryFolder folder;
  const MixedSamples samples(3);
  CHECK_THROWS_WITH(convert(samples, "tar", folder / "a.zip"), Catch::Contains(".tar"));
  CHECK_THROWS_AS(convert(samples, "tar", folder / "a.tar", {.shards = 2, .shard_samples = 1}),
                  ValueError);
  CHECK_THROWS_AS(convert(samples, "tar", folder / "a.tar", {.shards = 4}), ValueError);
  CHECK_THROWS_WITH(convert(samples, "npy", folder / "a.npy"), Catch::Contains("write npz"));
  CHECK_THROWS_AS(convert(samples, "tart", folder / "a.tar"), NotFound);
  CHECK_THROWS_AS(open_container("tar", folder / "none.tar"), NotFound);
  CHECK_THROWS_AS(open_container("tar", folder.path().string()), NotFound);
  const TensorDataset brain("brain", {{"x", Tensor::zeros(DType::bfloat16, {2, 2})}});
  CHECK_THROWS_WITH(convert(brain, "tar", folder / "a.tar"), Catch::Contains("write tfrecord"));
  CHECK_THROWS_AS(convert(brain, "npz", folder / "a.npz"), Unsupported);
  CHECK(folder.names().empty());
  for (const char* container : {"raw", "tfrecord"}) {
    convert(brain, container, file_of(folder, "brain", container));
    check_same(*open_container(container, file_of(folder, "brain", container)), brain);
  }
}

TEST_CASE("files of other fields are not one data set") {
  for (const char* container : kAll) {
    CAPTURE(container);
    const testing::TemporaryFolder folder;
    const std::string a = file_of(folder, "a", container), b = file_of(folder, "b", container);
    convert(TensorDataset("x", {{"x", Tensor::zeros(DType::float32, {2, 2})}}), container, a);
    convert(TensorDataset("y", {{"y", Tensor::zeros(DType::float32, {2, 2})}}), container, b);
    const auto format = containers().at(container).make();
    CHECK_THROWS_AS(format->open({a, b}, {}), FormatError);
    // A dimension in which they differ is open.
    convert(TensorDataset("x", {{"x", Tensor::zeros(DType::float32, {1, 5})}}), container, b);
    const auto both = format->open({a, b}, {});
    CHECK(to_string(both->fields()[0].desc) == "float32 ?");
    CHECK(both->sample_shape(0, 1) == Shape{2});
    CHECK(both->sample_shape(0, 2) == Shape{5});
  }
}

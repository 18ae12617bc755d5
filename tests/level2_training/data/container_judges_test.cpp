// SPDX-License-Identifier: Apache-2.0
// NumPy, Python's tarfile and TensorFlow read what d5 wrote, and d5 what they wrote.
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/container.hpp"
#include "d5/level2_training/data/tensor_dataset.hpp"
#include "tests/level2_training/mixed_samples.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

constexpr std::int64_t kSamples = 11;  // as in container_judges.py

/// Whether the judge was there; it must agree then.
bool run_judge(const std::string& judge, const std::string& what,
               const testing::TemporaryFolder& folder) {
  const char* python = std::getenv("D5_PYTHON");
  const char* source = std::getenv("D5_SOURCE_DIR");
  if (!python || !source) {
    WARN("skipped: needs D5_PYTHON and D5_SOURCE_DIR");
    return false;
  }
  const std::string command = std::string(python) + " " + source +
                              "/tests/level2_training/container_judges.py " + judge + " " + what +
                              " " + folder.path().string();
  const int status = std::system(command.c_str());
  if (WIFEXITED(status) && WEXITSTATUS(status) == 3) {
    WARN("skipped: this Python has no " + judge);
    return false;
  }
  CAPTURE(judge, what);
  REQUIRE(status == 0);
  return true;
}

std::vector<Tensor> sample_of(const Dataset& dataset, std::int64_t index) {
  std::vector<Tensor> sample = empty_batch(dataset, 1);
  dataset.read(std::span(&index, 1), {}, sample);
  return sample;
}

std::string words_of(const Dataset& dataset) {
  std::string words;
  for (const auto& [name, desc] : dataset.fields()) words += name + " " + to_string(desc) + "; ";
  return words;
}

template <class T>
std::vector<T> stored_values(const Tensor& tensor) {
  return {tensor.span<T>().begin(), tensor.span<T>().end()};
}

}  // namespace

TEST_CASE("NumPy reads d5's arrays") {
  const testing::TemporaryFolder folder;
  const test::MixedSamples samples(kSamples);
  convert(samples, "npz", folder / "stored.npz");
  convert(samples, "npz", folder / "packed.npz", {.settings = {{"compression", "deflate"}}});
  CHECK(std::filesystem::file_size(folder / "packed.npz") <
        std::filesystem::file_size(folder / "stored.npz"));
  convert(samples, "raw", folder / "a.safetensors");
  Tensor images = Tensor::empty(DType::uint8, {kSamples, 2, 3, 2});
  for (std::int64_t i = 0; i < kSamples; ++i) {
    images.slice(i, i + 1).copy_from(sample_of(samples, i)[0]);
  }
  convert(TensorDataset("images", {{"data", images}}), "npy", folder / "images.npy");
  run_judge("numpy", "read", folder);
}

TEST_CASE("d5 reads NumPy's arrays, of each version and order, but no pickles") {
  const testing::TemporaryFolder folder;
  if (!run_judge("numpy", "write", folder)) return;
  for (const char* file : {"v1.npy", "v2.npy", "v3.npy", "fortran.npy"}) {
    CAPTURE(file);
    const auto data = open_container("npy", folder / file, {{"field", "x"}});
    CHECK(words_of(*data) == "x float32 2x3; ");
    CHECK(data->size() == 4);
    CHECK(stored_values<float>(sample_of(*data, 2)[0]) ==
          std::vector<float>{12, 13, 14, 15, 16, 17});
  }
  for (const char* file : {"stored.npz", "packed.npz"}) {
    CAPTURE(file);
    const auto data = open_container("npz", folder / file);
    CHECK(words_of(*data) == "x float32 2x3; label int64 scalar; ");
    CHECK(stored_values<float>(sample_of(*data, 2)[0]) ==
          std::vector<float>{12, 13, 14, 15, 16, 17});
    CHECK(data->labels("label") == std::vector<std::int64_t>{0, 1, 2, 3});
  }
  CHECK_THROWS_AS(open_container("npy", folder / "objects.npy"), Unsupported);
}

TEST_CASE("Python's tarfile reads d5's archives") {
  const testing::TemporaryFolder folder;
  convert(test::MixedSamples(kSamples), "tar", folder / "a.tar");
  run_judge("tar", "read", folder);
}

TEST_CASE("d5 reads archives of Python's tarfile as WebDataset does, in each format") {
  const testing::TemporaryFolder folder;
  if (!run_judge("tar", "write", folder)) return;
  for (const char* format : {"ustar", "gnu", "pax"}) {
    CAPTURE(format);
    const std::string path = folder / (std::string(format) + ".tar");
    for (const char* index : {"memory", "write", "beside"}) {
      const auto data = open_container("tar", path, {{"index", index}});
      CHECK(words_of(*data) ==
            "jpeg string scalar; cls int64 scalar; box.npy float64 ?x2; json string scalar; ");
      CHECK(data->size() == 4);
      CHECK(data->labels("cls") == std::vector<std::int64_t>{-2, -1, 0, 1});
      const std::string stem = "train/" + std::string(120, 'f') + "/000001";
      CHECK(data->sample_name(1) == stem);
      const auto sample = sample_of(*data, 2);
      CHECK(sample[0].item<std::string>() == std::string(526, '\2'));
      CHECK(stored_values<double>(sample[2]) == std::vector<double>(6, 2));
      CHECK(sample[3].item<std::string>() == "{\"i\": 2}");
    }
    const auto chosen = open_container("tar", path, {{"fields", "cls,jpeg"}});
    CHECK(words_of(*chosen) == "cls int64 scalar; jpeg string scalar; ");
    CHECK(chosen->labels("cls") == std::vector<std::int64_t>{-2, -1, 0, 1});
  }
}

TEST_CASE("TensorFlow reads d5's records") {
  const testing::TemporaryFolder folder;
  const test::MixedSamples samples(kSamples);
  convert(samples, "tfrecord", folder / "a.tfrecord");
  for (const auto& [word, name] : {std::pair("gzip", "GZIP"), std::pair("zlib", "ZLIB")}) {
    const std::string path = folder / ("a" + std::string(name) + ".tfrecord");
    convert(samples, "tfrecord", path, {.settings = {{"compression", word}}});
    test::check_same(*open_container("tfrecord", path), samples);
  }
  run_judge("tensorflow", "read", folder);
}

TEST_CASE("d5 reads TensorFlow's records, packed or not") {
  const testing::TemporaryFolder folder;
  if (!run_judge("tensorflow", "write", folder)) return;
  for (const char* compression : {"", "GZIP", "ZLIB"}) {
    CAPTURE(compression);
    const std::string path = folder / ("tf" + std::string(compression) + ".tfrecord");
    for (const char* index : {"memory", "write", "beside"}) {
      const auto data = open_container("tfrecord", path, {{"index", index}});
      CHECK(
          words_of(*data) ==
          "box float32 4; image/class/label int64 scalar; image/encoded string scalar; note int64 "
          "?; tags string ?; ");
      REQUIRE(data->size() == 30);
      for (std::int64_t i = 0; i < 30; ++i) {
        const auto sample = sample_of(*data, i);
        CHECK(stored_values<float>(sample[0]) ==
              std::vector<float>{float(i) / 4, 0.5f, 0.25f, 1e30f});
        CHECK(sample[1].item<std::int64_t>() == i - (std::int64_t{1} << 40));
        CHECK(sample[2].item<std::string>() == std::string(std::size_t(i) * 50, char(i)));
        CHECK(stored_values<std::int64_t>(sample[3]) ==
              (i % 2 == 0 ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{-i, i}));
        CHECK(stored_values<std::string>(sample[4]) ==
              std::vector<std::string>(std::size_t(i % 3), "a"));
      }
    }
  }
}

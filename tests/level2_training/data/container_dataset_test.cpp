// SPDX-License-Identifier: Apache-2.0
// A converted data set is used like any other, wherever one is named.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "core/files/deflate.hpp"
#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level2_training/data/container.hpp"
#include "d5/level2_training/data/sampler.hpp"
#include "d5/level2_training/data/tensor_dataset.hpp"
#include "tests/level2_training/mixed_samples.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using Catch::Contains;
using test::check_same;
using test::MixedSamples;
namespace fs = std::filesystem;

namespace {

/// Those that keep samples of any fields, and how their files end.
const std::vector<std::pair<std::string, std::string>> kAllSamples{
    {"raw", "safetensors"}, {"npz", "npz"}, {"tar", "tar"}, {"tfrecord", "tfrecord"}};

std::string packed_samples(const std::string& bytes) {
  detail::Deflater gzip(detail::Deflater::Wrapper::gzip);
  std::string all = gzip.add(bytes);
  return all + gzip.finish();
}

/// Whether two samplers give the same bits until the end of the epoch.
bool same_batches(Sampler& a, Sampler& b) {
  for (;;) {
    const Batch *one = a.next(), *other = b.next();
    if (!one || !other) return !one && !other;
    for (const auto& [name, value] : one->values) {
      if (!test::same_elements(value.tensor(), other->values.at(name).tensor())) return false;
    }
  }
}

}  // namespace

TEST_CASE("a converted file is the data set 'container', whose format follows from its ending") {
  for (const auto& [container, ending] : kAllSamples) {
    CAPTURE(container);
    const testing::TemporaryFolder folder;
    const std::string train = folder / ("train." + ending), test = folder / ("test." + ending);
    convert(MixedSamples(9), "", train);
    convert(MixedSamples(4), "", test, {.shards = 2});
    CHECK(container_of(train) == container);
    CHECK(container_of(folder.path().string()) == container);
    const DatasetPair pair = open_dataset("container", {{"train", train}, {"test", test}});
    check_same(*pair.train, MixedSamples(9));
    check_same(*pair.test, MixedSamples(4));
    const DatasetPair few =
        open_dataset("container", {{"train", train}, {"train_samples", 5}, {"validation", 0.2}});
    CHECK(few.train->size() == 5);
    CHECK(few.test->size() == 2);
    CHECK(open_dataset("container", {{"train", train}}).test == nullptr);
    const DatasetPair named =
        open_dataset("container", {{"train", train}, {"format.name", container}});
    check_same(*named.train, MixedSamples(9));
  }
}

TEST_CASE("one word names a data set, or a container's file, with settings") {
  const testing::TemporaryFolder folder;
  const TensorDataset points("points", {{"x", Tensor::of<float>({2, 1}, {1, 2})},
                                        {"label", Tensor::vector<std::int64_t>({7, 8})}});
  convert(points, "", folder / "a.tar");
  CHECK(dataset_of_words("mnist:data=a.tar").name == "mnist");
  CHECK(dataset_of_words("minst").name == "minst");
  CHECK(dataset_of_words("no/such/file").settings.text("train", "") == "no/such/file");
  CHECK(dataset_of_words("there-is-none.tar").name == "container");
  const EntryChoice choice = dataset_of_words(folder / "a.tar:format.fields=label.cls");
  CHECK(choice.name == "container");
  const auto labels = open_dataset(choice.name, choice.settings).train;
  REQUIRE(labels->fields().size() == 1);
  CHECK(labels->labels("label.cls") == std::vector<std::int64_t>{7, 8});
}

TEST_CASE("a pattern stands for the files that it fits, a folder for those of one container") {
  const testing::TemporaryFolder folder;
  convert(MixedSamples(6), "", folder / "a-0.tar");
  convert(MixedSamples(3), "", folder / "a-1.tar");
  CHECK(open_container("", folder / "a-*.tar")->size() == 9);  // and no index beside them
  CHECK(open_container("tar", folder / "a-[0]*")->size() == 6);
  CHECK_THROWS_WITH(open_container("", folder / "b-*.tar"), Contains("fits no file"));
  CHECK_THROWS_WITH(open_container("", folder / "a"), Contains(".tfrecord"));
  convert(MixedSamples(2), "", folder / "b.tfrecord");
  CHECK_THROWS_WITH(open_container("", folder.path().string()), Contains("tar, tfrecord"));
  CHECK(open_container("tar", folder.path().string())->size() == 9);
  CHECK_THROWS_WITH(open_dataset("container"), Contains("train=FILE"));
}

TEST_CASE("files that are packed by gzip are read, or refused with the way out") {
  const testing::TemporaryFolder folder;
  const MixedSamples samples(12);
  for (const std::string ending : {"tar", "tfrecord"}) {
    CAPTURE(ending);
    const std::string path = folder / ("a." + ending);
    convert(samples, "", path, {.shards = 2});
    for (int i = 0; i < 2; ++i) {
      const std::string shard = folder / ("a-0000" + std::to_string(i) + "-of-00002." + ending);
      write_file(shard + ".gz", packed_samples(read_file(shard)));
      fs::remove(shard);
      fs::rename(shard + ".index", shard + ".gz.index");  // indexes the unpacked bytes
    }
    check_same(*open_container("", path + ".gz"), samples);
    CHECK(open_container(ending, folder / ("a-00001*." + ending + ".gz"))->size() == 6);
    const std::string whole = read_file(folder / ("a-00000-of-00002." + ending + ".gz"));
    write_file(folder / ("cut." + ending + ".gz"), whole.substr(0, whole.size() / 2));
    CHECK_THROWS_AS(open_container("", folder / ("cut." + ending + ".gz")), FormatError);
  }
  const TensorDataset points("points", {{"data", Tensor::of<float>({2, 1}, {1, 2})}});
  for (const std::string ending : {"safetensors", "npy", "npz"}) {
    CAPTURE(ending);
    const std::string path = folder / ("b." + ending);
    convert(points, "", path);
    write_file(path + ".gz", packed_samples(read_file(path)));
    CHECK_THROWS_AS(open_container("", path + ".gz"), Unsupported);
    CHECK_THROWS_WITH(open_container("", path + ".gz"), Contains("gunzip"));
  }
}

TEST_CASE("converting gives the samples, bytes and checksum of each file") {
  for (const auto& [container, ending] : kAllSamples) {
    CAPTURE(container);
    const testing::TemporaryFolder folder;
    const auto files = convert(MixedSamples(7), container, folder / ("a." + ending), {.shards = 3});
    REQUIRE(files.size() == 3);
    std::vector<std::int64_t> samples;
    for (const auto& file : files) {
      samples.push_back(file.samples);
      CHECK(file.bytes == fs::file_size(file.path));
      CHECK(file.sha256 == detail::sha256(read_file(file.path)));
    }
    CHECK(samples == std::vector<std::int64_t>{3, 2, 2});
  }
}

TEST_CASE(
    "CIFAR's photographs are the same bits from each container, number of files and threads") {
  const char* shared = std::getenv("D5_DATA_DIR");
  if (!shared || !fs::exists(fs::path(shared) / "cifar10-jpeg-subset")) {
    WARN("skipped: D5_DATA_DIR has no cifar10-jpeg-subset");
    return;
  }
  const auto photos = open_dataset(
      "cifar-10",
      {{"data", (fs::path(shared) / "cifar10-jpeg-subset").string()}, {"test_samples", 1100}});
  const auto shuffled = [](const std::shared_ptr<const Dataset>& data, int threads) {
    auto sampler = samplers().at("shuffle").make(data, {{"batch_size", 64}, {"seed", 3}});
    sampler->read_ahead(threads);
    return sampler;
  };
  for (const auto& [container, ending] : kAllSamples) {
    for (const std::int64_t shards : {0, 1024}) {
      CAPTURE(container, shards);
      const testing::TemporaryFolder folder;
      const std::string path = folder / ("cifar." + ending);
      convert(*photos.test, container, path, {.shards = shards});
      const auto read = open_dataset("container", {{"train", path}}).train;
      check_same(*read, *photos.test);
      for (const int threads : {0, 1, 2, 4}) {
        CAPTURE(threads);
        CHECK(same_batches(*shuffled(read, threads), *shuffled(photos.test, 0)));
      }
    }
  }
}

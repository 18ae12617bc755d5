// SPDX-License-Identifier: Apache-2.0
// ImageNet as it is published: a tar archive of the classes' archives, and TFRecord files.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level2_training/data/container.hpp"
#include "d5/level2_training/data/tensor_dataset.hpp"
#include "tests/interrupted_everywhere.hpp"
#include "tests/level2_training/encoded_images.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using Catch::Contains;
namespace fs = std::filesystem;
using Labels = std::vector<std::int64_t>;

namespace {

/// Files by class and name: every `step`th of the shared photographs, or what stands for them.
std::map<std::string, std::map<std::string, std::string>> images_by_class(std::size_t step) {
  std::map<std::string, std::map<std::string, std::string>> classes;
  for (const auto& [name, content] : testing::photographs(step)) {
    classes[name.substr(0, 9)][name] = content;
  }
  if (classes.empty()) {
    WARN("D5_DATA_DIR has no imagenet-sample: a few bytes stand for its photographs");
    classes = {{"n00000001", {{"n00000001_1.JPEG", "one"}, {"n00000001_7.JPEG", "seven"}}},
               {"n01440764", {{"n01440764_2.JPEG", std::string(1000, '2')}}}};
  }
  return classes;
}

/// The same images as class folders below "train", and as archives by the system's tar.
struct Published : testing::TemporaryFolder {
  explicit Published(std::size_t step = 1) {
    for (const auto& [name, files] : images_by_class(step)) {
      fs::create_directories(*this / "folders/train/" + name);
      for (const auto& [file, content] : files) {
        // Not flushed to the disk: there are hundreds.
        std::ofstream(*this / "folders/train/" + name + "/" + file, std::ios::binary) << content;
      }
      shell("tar -cf " + name + ".tar -C folders/train/" + name + " .");
    }
    shell("tar -cf ILSVRC2012_img_train.tar n*.tar && rm n*.tar");
  }
  void shell(const std::string& command) const {
    REQUIRE(std::system(("cd '" + path().string() + "' && " + command).c_str()) == 0);
  }
  [[nodiscard]] DatasetPair open(const std::string& data, Settings settings = {}) const {
    settings.set("data", *this / data);
    return open_dataset("imagenet", settings);
  }
};

std::string bytes_of(const Dataset& dataset, std::int64_t index) {
  std::vector<Tensor> sample = empty_batch(dataset, 1);
  dataset.read(std::span(&index, 1), {}, sample);
  return sample[0].item<std::string>();
}

void check_same_images(const Dataset& given, const Dataset& expected) {
  REQUIRE(given.size() == expected.size());
  CHECK(given.labels("label") == expected.labels("label"));
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    if (bytes_of(given, i) != bytes_of(expected, i)) FAIL("image " << i << " differs");
  }
}

/// Writes the features that published records have; the labels count from 1.
void write_records(const Dataset& images, const std::string& path, std::int64_t shards) {
  const std::int64_t size = images.size();
  std::vector<std::string> contents, names;
  Tensor labels = Tensor::empty(DType::int64, {size});
  std::int64_t* label = labels.data<std::int64_t>();
  for (std::int64_t i = 0; i < size; ++i) {
    contents.push_back(bytes_of(images, i));
    names.push_back(fs::path(images.sample_name(i)).filename().string());
    *label++ = images.labels("label")[std::size_t(i)] + 1;
  }
  convert(TensorDataset("records",
                        {{"image/class/label", labels},
                         {"image/class/text", Tensor::of<std::string>({size}, std::span(names))},
                         {"image/encoded", Tensor::of<std::string>({size}, std::span(contents))},
                         {"image/filename", Tensor::of<std::string>({size}, std::span(names))}}),
          "tfrecord", path + ".tfrecord", {.shards = shards});
  // Published ones have neither an ending nor an index.
  for (const auto& entry : fs::directory_iterator(fs::path(path).parent_path())) {
    const std::string file = entry.path().string();
    if (file.ends_with(".index")) fs::remove(file);
    if (file.ends_with(".tfrecord")) fs::rename(file, file.substr(0, file.size() - 9));
  }
}

}  // namespace

TEST_CASE("the archive of class archives holds the images of the class folders") {
  const Published published;
  const auto folders = published.open("folders").train;
  const auto archive = published.open("ILSVRC2012_img_train.tar").train;
  check_same_images(*archive, *folders);
  for (std::int64_t i = 0; i < folders->size(); ++i) {
    CHECK(archive->sample_name(i) == folders->sample_name(i));
  }
  check_same_images(*published.open("").train, *folders);  // found in the folder that holds it
  CHECK(archive->artefacts()[0].sha256 == folders->artefacts()[0].sha256);
  CHECK(
      published.open("ILSVRC2012_img_train.tar", {{"label_offset", 1}}).train->labels("label")[0] ==
      1);
}

TEST_CASE("the archive of test images needs their classes, a line each") {
  const Published published(20);
  published.shell("mkdir val && cp folders/train/n*/* val/");
  published.shell("cd val && n=0; for f in *; do n=$((n+1)); mv $f V_$(printf %05d $n).JPEG; done");
  published.shell("tar -cf ILSVRC2012_img_val.tar -C val . && rm -r val");
  CHECK_THROWS_WITH(published.open(""), Contains("val_synsets"));
  std::string words;
  const auto train = published.open("folders").train;
  for (std::int64_t i = 0; i < train->size(); ++i)
    words += train->sample_name(i).substr(0, 9) + "\n";
  write_file(published / "synsets", words);
  const auto test = published.open("", {{"val_synsets", published / "synsets"}}).test;
  check_same_images(*test, *train);
  write_file(published / "synsets", words + "n00000001\n");
  CHECK_THROWS_WITH(published.open("", {{"val_synsets", published / "synsets"}}),
                    Contains("classes of " + std::to_string(train->size() + 1)));
  write_file(published / "synsets", "tench\n");
  CHECK_THROWS_WITH(published.open("", {{"val_synsets", published / "synsets"}}),
                    Contains("expected a class"));
}

TEST_CASE("published records hold the same images, and their labels count from 1") {
  const Published published;
  const auto train = published.open("folders").train;
  fs::create_directories(published / "records");
  write_records(*train, published / "records/train", 3);
  write_records(*train, published / "records/validation", 1);
  const DatasetPair records = published.open("records");
  check_same_images(*records.train, *train);
  check_same_images(*records.test, *train);
  const std::string name = train->sample_name(1);
  CHECK(records.train->sample_name(1) == name.substr(name.find('/') + 1));
  check_same_images(*published.open("records/train-*").train, *train);
  CHECK(published.open("records/train", {{"label_offset", 1}}).train->labels("label")[0] == 1);
  CHECK(published.open("records/train", {{"first_label", 0}}).train->labels("label")[0] == 1);
  const auto late = published.open("records/train", {{"first_label", 2}}).train;
  CHECK_THROWS_WITH(late->labels("label"), Contains("first_label"));
  CHECK_THROWS_AS(bytes_of(*late, 0), FormatError);
}

TEST_CASE("an archive that is cut, or is none, is refused with its place") {
  const Published published(20);
  const std::string whole = read_file(published / "ILSVRC2012_img_train.tar");
  write_file(published / "cut.tar", whole.substr(0, whole.size() / 2));
  CHECK_THROWS_WITH(published.open("cut.tar"), Contains("truncated") && Contains("cut.tar"));
  std::string damaged = whole;
  damaged[1024 + 4] ^= 1;  // a header in the first class's archive
  write_file(published / "damaged.tar", damaged);
  CHECK_THROWS_WITH(published.open("damaged.tar"),
                    Contains("damaged.tar/n") && Contains("checksum"));
  write_file(published / "none.tar", std::string(1024, '\0'));
  CHECK_THROWS_AS(published.open("none.tar"), NotFound);
  CHECK_THROWS_AS(published.open("missing.tar"), IoError);
  CHECK_THROWS_AS(published.open("missing"), NotFound);
}

TEST_CASE("opening an archive ends where it is interrupted") {
  const Published published(20);
  const auto open = [&](const Interrupt& interrupt) {
    (void)open_dataset("imagenet", {{"data", published / "ILSVRC2012_img_train.tar"}}, interrupt);
  };
  CHECK(testing::interrupted_everywhere(open) >= 1);
}

// SPDX-License-Identifier: Apache-2.0
// Data sets of files that somebody has: ImageNet, images of one's own, text.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level2_training/data/container.hpp"
#include "d5/level2_training/data/dataset.hpp"
#include "tests/tar_member.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

namespace fs = std::filesystem;

struct Folder : testing::TemporaryFolder {
  void put(const std::string& name, const std::string& content = "image") const {
    fs::create_directories(fs::path(*this / name).parent_path());
    write_file(*this / name, content);
  }
  [[nodiscard]] DatasetPair open(
      const std::string& dataset,
      std::map<std::string, std::string, std::less<>> settings = {}) const {
    settings.try_emplace("data", path().string());
    return open_dataset(dataset, Settings("", settings));
  }
};

std::string bytes_of_file(const Dataset& dataset, std::int64_t index) {
  std::vector<Tensor> sample = empty_batch(dataset, 1);
  dataset.read(std::span(&index, 1), {}, sample);
  return sample[0].item<std::string>();
}

using Labels = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("ImageNet's classes are the training folders' ids, in their order") {
  const Folder folder;
  folder.put("train/n01440764/b.JPEG", "tench");
  folder.put("train/n01440764/a.JPEG");
  folder.put("train/n00000001/c.jpeg");
  folder.put("train/n01440764/notes.txt");
  folder.put("val/n01440764/v.JPEG");
  const auto pair = folder.open("imagenet");
  REQUIRE(pair.train->size() == 3);
  CHECK(pair.train->labels("label") == Labels{0, 1, 1});
  CHECK(pair.train->sample_name(2) == "n01440764/b.JPEG");
  CHECK(bytes_of_file(*pair.train, 2) == "tench");
  CHECK(pair.test->labels("label") == Labels{1});
  CHECK(folder.open("imagenet", {{"label_offset", "1"}}).test->labels("label") == Labels{2});

  folder.put("val/n09999999/w.JPEG");
  CHECK_THROWS_WITH(folder.open("imagenet"), Catch::Contains("n09999999"));
  CHECK_THROWS_AS(folder.open("imagenet"), FormatError);
}

/// Adds the files that a notebook, a Mac and Windows leave in a folder of images.
void leave_clutter(const Folder& folder, const std::string& below) {
  for (const char* name :
       {".ipynb_checkpoints/1-checkpoint.jpg", "__MACOSX/cats/._1.jpg", "cats/._1.jpg",
        "cats/.ipynb_checkpoints/1-checkpoint.jpg", "cats/Thumbs.db", "desktop.ini",
        "@eaDir/cats/1.jpg", ".thumbnails.jpg"}) {
    folder.put(below + name, "clutter");
  }
}

TEST_CASE("what desktops and notebooks leave is no sample and no class") {
  const Folder folder;
  folder.put("cats/1.jpg", "cat");
  folder.put("dogs/1.jpg", "dog");
  folder.put("dogs/2.jpg", "dog");
  leave_clutter(folder, "");
  const auto pair = folder.open("files");
  CHECK(pair.train->labels("label") == Labels{0, 1, 1});
  CHECK(bytes_of_file(*pair.train, 0) == "cat");
}

TEST_CASE("what a Mac leaves in folders and archives of ImageNet is left out") {
  const Folder folder;
  folder.put("train/n00000001/c.jpeg");
  folder.put("train/n01440764/b.JPEG");
  leave_clutter(folder, "train/");
  CHECK(folder.open("imagenet").train->labels("label") == Labels{0, 1});

  const std::string archive =
      testing::tar_member("./._n00000001", "") + testing::tar_member("./n00000001/._c.jpeg", "") +
      testing::tar_member("./n00000001/c.jpeg", "c") +
      testing::tar_member("__MACOSX/n01440764/b.jpeg", "") +
      testing::tar_member("./n01440764/b.jpeg", "b") + std::string(1024, '\0');
  const Folder other;
  other.put("ILSVRC2012_img_train.tar", archive);
  CHECK(other.open("imagenet").train->labels("label") == Labels{0, 1});
}

TEST_CASE("what a Mac leaves beside containers is no shard") {
  const Folder folder;
  folder.put("a.tar", testing::tar_member("1.txt", "1") + std::string(1024, '\0'));
  folder.put("._a.tar", "clutter");
  CHECK(container_files(folder.path().string(), "tar") ==
        std::vector<std::string>{folder / "a.tar"});
}

TEST_CASE("ImageNet's images may lie flat, with their class in their names") {
  const Folder folder;
  folder.put("n01440764_10026.JPEG");
  folder.put("n00000001_1.JPEG");
  const auto pair = folder.open("imagenet");
  CHECK(pair.train->labels("label") == Labels{0, 1});
  CHECK(pair.test == nullptr);
  CHECK(folder.open("imagenet", {{"validation", "0.5"}}).test->size() == 1);
  folder.put("holiday.JPEG");
  CHECK_THROWS_WITH(folder.open("imagenet"), Catch::Contains("holiday.JPEG"));
}

TEST_CASE("the shared photographs of ImageNet are of a class each") {
  const char* shared = std::getenv("D5_DATA_DIR");
  if (!shared || !fs::exists(fs::path(shared) / "imagenet-sample")) {
    WARN("skipped: D5_DATA_DIR has no imagenet-sample");
    return;
  }
  const auto data = open_dataset("imagenet", {{"data", std::string(shared) + "/imagenet-sample"}});
  const Labels labels = data.train->labels("label");
  CHECK(std::map<std::int64_t, int>{{labels.front(), 1}}.size() == 1);
  CHECK(labels.size() == std::size_t(data.train->size()));
  CHECK(bytes_of_file(*data.train, 0).starts_with("\xff\xd8\xff"));  // JPEG's first marker
}

TEST_CASE("images of one's own are of the folder's class that they are in") {
  const Folder folder;
  folder.put("dog/1.png", "dog 1");
  folder.put("cat/deep/2.jpg", "cat 2");
  const auto pair = folder.open("files");
  CHECK(pair.train->labels("label") == Labels{0, 1});
  CHECK(pair.train->sample_name(0) == "cat/deep/2.jpg");
  CHECK(bytes_of_file(*pair.train, 1) == "dog 1");
  CHECK(pair.test == nullptr);
  folder.put("3.png");
  CHECK_THROWS_WITH(folder.open("files"), Catch::Contains("in no class's folder"));
  const Folder empty;
  CHECK_THROWS_AS(empty.open("files"), NotFound);
  CHECK_THROWS_AS(open_dataset("files", {}), ValueError);
}

TEST_CASE("a list names files and labels") {
  const Folder folder;
  folder.put("some/an image.png", "first");
  folder.put("two.png", "second");
  folder.put("list.txt", "some/an image.png 3\r\n\ntwo.png\t0\n");
  const auto open = [&](std::map<std::string, std::string, std::less<>> settings = {}) {
    settings["data"] = folder / "list.txt";
    return folder.open("files", settings).train;
  };
  CHECK(open()->labels("label") == Labels{3, 0});
  CHECK(bytes_of_file(*open(), 0) == "first");
  CHECK(bytes_of_file(*open(), 1) == "second");
  CHECK(open({{"classes", "4"}})->size() == 2);
  CHECK_THROWS_WITH(open({{"classes", "3"}}),
                    Catch::Contains("list.txt:1") && Catch::Contains("0 to 2"));

  for (const char* bad : {"two.png", " 4", "two.png -1", "two.png 1.5",
                          "two.png 99999999999999999999", "two.png zero"}) {
    CAPTURE(bad);
    folder.put("list.txt", std::string("two.png 1\n") + bad + "\n");
    CHECK_THROWS_AS(open(), FormatError);
    CHECK_THROWS_WITH(open(), Catch::Contains("list.txt:2"));
  }
  folder.put("list.txt", "missing.png 0\n");
  CHECK_THROWS_WITH(bytes_of_file(*open(), 0), Catch::Contains("missing.png"));
}

TEST_CASE("a text's samples are its bytes, and their labels the bytes behind") {
  const Folder folder;
  folder.put("text", "abcdefghij");
  const auto open = [&](std::map<std::string, std::string, std::less<>> settings) {
    settings["data"] = folder / "text";
    return folder.open("text", settings);
  };
  const auto pair = open({{"length", "3"}, {"test_share", "0.4"}});
  REQUIRE(pair.train->size() == 1);  // "abcdef": a second one would have no label at its end
  REQUIRE(pair.test->size() == 1);
  std::vector<Tensor> sample = empty_batch(*pair.test, 1);
  pair.test->read(std::vector<std::int64_t>{0}, {}, sample);
  CHECK(std::ranges::equal(sample[0].span<std::int64_t>(), Labels{'g', 'h', 'i'}));
  CHECK(std::ranges::equal(sample[1].span<std::int64_t>(), Labels{'h', 'i', 'j'}));

  const auto overlapping = open({{"length", "3"}, {"stride", "1"}, {"test_share", "0"}});
  CHECK(overlapping.train->size() == 7);
  CHECK(overlapping.test == nullptr);
  CHECK(overlapping.train->sample_name(6) == "text, byte 6");
  CHECK_THROWS_AS(open({{"length", "10"}, {"test_share", "0"}}), ValueError);
  CHECK_THROWS_AS(open_dataset("text", {{"data", folder / "none"}}), IoError);
}

// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/described_folder.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/evaluation/manifest/dataset_manifest.hpp"
#include "d5/evaluation/manifest/dataset_samples.hpp"
#include "d5/evaluation/manifest/manifest.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"
#include "d5/level2_training/data/dataset.hpp"
#include "tests/temporary_folder.hpp"

namespace d5 {
namespace {

TEST_CASE("a folder of folders is a data set's manifest, a class each, with digests") {
  const testing::TemporaryFolder folder;
  for (const char* name : {"b", "a: \"x\"", ".hidden"}) {
    std::filesystem::create_directories(folder / (std::string("kinds/") + name));
  }
  const std::string kinds = folder / "kinds";
  write_file(kinds + "/b/one.png", "abc");
  write_file(kinds + "/a: \"x\"/two.png", "");
  write_file(kinds + "/b/.DS_Store", "not one");
  const auto manifest =
      parse_manifest<DatasetManifest>(described_folder(kinds + "/"), "kinds.yaml");
  CHECK(manifest.name == "kinds");
  CHECK(manifest.folder == std::filesystem::weakly_canonical(kinds).string());
  CHECK(manifest.labels == std::vector<std::string>{"a: \"x\"", "b"});
  REQUIRE(manifest.samples.size() == 2);
  CHECK(manifest.samples[0].file == "a: \"x\"/two.png");
  CHECK(manifest.samples[0].label == 0);
  CHECK(manifest.samples[1].label == 1);
  CHECK(manifest.samples[1].bytes == 3);
  // FIPS 180-2, appendix B.1
  CHECK(manifest.samples[1].sha256 ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("a folder of .txt files is a data set of text") {
  const testing::TemporaryFolder folder;
  write_file(folder / "a.txt", "one");
  const auto texts = parse_manifest<DatasetManifest>(described_folder(folder / ""), "t.yaml");
  CHECK(texts.modality == "text");
  CHECK(texts.task == "text classification");
  write_file(folder / "b.png", "two");
  const auto mixed = parse_manifest<DatasetManifest>(described_folder(folder / ""), "t.yaml");
  CHECK(mixed.modality == "image");
}

TEST_CASE("a described folder has the classes that the data set of its files has") {
  const testing::TemporaryFolder folder;
  for (const char* name : {"cats/1.jpg", "dogs/1.jpg", "dogs/Thumbs.db", "cats/._1.jpg",
                           ".ipynb_checkpoints/1-checkpoint.jpg", "__MACOSX/cats/._1.jpg",
                           "Thumbs.db", "desktop.ini", "@eaDir/cats/1.jpg"}) {
    const std::filesystem::path path = folder / name;
    std::filesystem::create_directories(path.parent_path());
    write_file(path.string(), "x");
  }
  std::filesystem::create_directories(folder / "birds");  // a class without pictures
  const auto manifest =
      parse_manifest<DatasetManifest>(described_folder(folder / "", "n"), "n.yaml");
  CHECK(manifest.labels == std::vector<std::string>{"cats", "dogs"});
  const auto files = open_dataset("files", {{"data", folder.path().string()}}).train;
  REQUIRE(std::size_t(files->size()) == manifest.samples.size());
  const auto labels = files->labels("label");
  for (std::size_t i = 0; i < labels.size(); ++i) {
    CHECK(manifest.samples[i].file == files->sample_name(std::int64_t(i)));
    CHECK(manifest.samples[i].label == labels[i]);
  }
}

TEST_CASE("a folder stands for the data set that is described from it") {
  const testing::TemporaryFolder folder;
  const std::string photos = folder / "photos";
  for (const char* name : {"cats/1.jpg", "dogs/1.jpg"}) {
    const std::filesystem::path path = std::filesystem::path(photos) / name;
    std::filesystem::create_directories(path.parent_path());
    write_file(path.string(), name);
  }
  write_file(folder / "photos.yaml", described_folder(photos));
  const auto written = find_manifest<DatasetManifest>(folder / "photos.yaml");
  for (const std::string& word : {photos, photos + "/"}) {
    const auto found = find_manifest<DatasetManifest>(word);
    CHECK(found.digest == written.digest);
    CHECK(open_samples(found.manifest)->size() == 2);
  }
  CHECK_THROWS_AS(find_manifest<DatasetManifest>(folder / "nowhere"), NotFound);
  const std::filesystem::path before = std::filesystem::current_path();
  for (const auto& [place, word] :
       {std::pair{folder / "", "photos"}, std::pair{folder / "photos", "../photos"}}) {
    INFO(place << " " << word);
    std::filesystem::current_path(place);
    const auto found = find_manifest<DatasetManifest>(word);
    CHECK(open_samples(found.manifest)->size() == 2);
    std::filesystem::current_path(before);
  }
}

TEST_CASE("a folder without files, within a class's, or not there is refused") {
  const testing::TemporaryFolder folder;
  CHECK_THROWS_AS(described_folder(folder / "nowhere"), IoError);
  std::filesystem::create_directories(folder / "a");
  CHECK_THROWS_WITH(described_folder(folder / "", "n"), Catch::Contains("has no files"));
  std::filesystem::create_directories(folder / "a/b");
  CHECK_THROWS_WITH(described_folder(folder / "", "n"),
                    Catch::Contains("is a nested folder in a class"));
}

}  // namespace
}  // namespace d5

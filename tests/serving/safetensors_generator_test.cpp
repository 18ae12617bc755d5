// SPDX-License-Identifier: Apache-2.0
// A manifest whose model is a folder of safetensors: its files lie in the store, by digest.
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/artefact_store.hpp"
#include "d5/serving/generators/text_models.hpp"
#include "serving/generators/text_model.hpp"
#include "tests/cache_folder.hpp"
#include "tests/evaluation/generation/safetensors_folder.hpp"

using namespace d5;

namespace {

/// Adds the files to the store, and returns a manifest of them.
std::string manifest_of(const std::string& name, const testing::TemporaryFolder& folder,
                        const std::vector<std::string>& files) {
  std::string manifest = "kind: generator\nname: " + name +
                         "\nversion: 1.0.0\nsummary: a toy\nlicence: CC0-1.0\n"
                         "format: safetensors\nassets:\n";
  for (const std::string& file : files) {
    const Asset asset = ArtefactStore().add(folder / file);
    manifest += "- name: " + file + "\n  bytes: " + std::to_string(asset.bytes) +
                "\n  sha256: " + asset.sha256 + "\n  made_by: this test\n";
  }
  return manifest + "chat: {name: plain}\n";
}

}  // namespace

TEST_CASE("a manifest of safetensors is served from the store") {
  const testing::OwnCacheFolder cache;
  const testing::TemporaryFolder folder;
  testing::ToyFolder(true, "BF16", 2).write(folder);
  std::vector<std::string> files{"config.json", "tokenizer.json", "model.safetensors.index.json",
                                 "model-00001.safetensors", "model-00002.safetensors"};
  write_file(folder / "toy.yaml", manifest_of("toy", folder, files));
  TextModels models({.slots = 2, .capacity = 24});
  CHECK(models.add(folder / "toy.yaml") == "toy");
  const auto model = models.at("toy");
  CHECK(model->tokenizer->vocabulary_size() == testing::kFolderTokens);
  CHECK(model->end_tokens == std::vector<TokenId>{257});
  CHECK(model->engine->capacity() == 8);  // 24 rows, of which a piece of a prompt takes 16

  files.erase(files.begin());
  write_file(folder / "less.yaml", manifest_of("less", folder, files));
  CHECK_THROWS_WITH(TextModels({.capacity = 24}).add(folder / "less.yaml"),
                    Catch::Contains("config.json"));
}

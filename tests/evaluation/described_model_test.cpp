// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/described_model.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/evaluation/run/model_assets.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "d5/level1_network/source/models.hpp"
#include "d5/onnx/file.hpp"
#include "tests/cache_folder.hpp"
#include "tests/temporary_folder.hpp"

namespace d5 {
namespace {

ModelManifest described(const std::string& file) {
  return parse_manifest<ModelManifest>(described_model(file), "described.yaml");
}

TEST_CASE("an ONNX file is a model's manifest, which agrees with it") {
  const testing::OwnCacheFolder cache;
  const testing::TemporaryFolder folder;
  const std::string file = folder / "Le Net.onnx";
  models().at("lenet").make().save(file);
  const ModelManifest manifest = described(file);
  CHECK(manifest.name == "Le-Net");
  CHECK_NOTHROW(expect_agreement(manifest, Network::load(file)));
  const ModelAssets assets =
      find_assets({.manifest = manifest, .file = {}, .canonical = {}, .digest = {}});
  CHECK(read_file(assets.network) == read_file(file));
  REQUIRE(manifest.assets.size() == 1);
  CHECK(manifest.assets[0].bytes == std::int64_t(read_file(file).size()));
  CHECK(manifest.inputs.at(0).shape == std::vector<std::int64_t>{1, 28, 28});
  REQUIRE(manifest.inputs[0].steps.size() == 5);
  CHECK(manifest.inputs[0].steps[0].name == "decode");
  CHECK(manifest.inputs[0].steps[3].name == "greyscale");  // one channel
  CHECK(manifest.answer.at(0).name == "top_k");
}

TEST_CASE("what is no image is fed as it is, and what scores nothing has no answer") {
  const testing::TemporaryFolder folder;
  Network network("sum");
  network.add_input("words: \"x\"", DType::int64, {"N", "L"});
  network.add_node("Cast", {"words: \"x\""}, {"y"}, {{"to", std::int64_t{1}}});
  network.add_output("y");
  network.save(folder / "sum.onnx");
  const ModelManifest manifest = described(folder / "sum.onnx");
  CHECK(manifest.inputs.at(0).field == "words: \"x\"");
  CHECK(manifest.inputs[0].shape == std::vector<std::int64_t>{0});
  CHECK(manifest.inputs[0].steps.empty());
  CHECK(manifest.answer.empty());
  CHECK_NOTHROW(expect_agreement(manifest, Network::load(folder / "sum.onnx")));
}

TEST_CASE("weights in another file, and what is no network, are refused") {
  const testing::TemporaryFolder folder;
  models().at("lenet").make().save(folder / "split.onnx", onnx::SaveOptions{.external_data = true});
  CHECK_THROWS_AS(described_model(folder / "split.onnx"), Unsupported);
  CHECK_THROWS_WITH(described_model(folder / "split.onnx"),
                    Catch::Contains("d5 net save " + (folder / "split.onnx") + " one.onnx"));
  // The way out.
  Network::load(folder / "split.onnx").save(folder / "one.onnx");
  CHECK_NOTHROW(described(folder / "one.onnx"));
  write_file(folder / "text.onnx", "no network");
  CHECK_THROWS_AS(described_model(folder / "text.onnx"), FormatError);
  CHECK_THROWS_AS(described_model(folder / "nowhere.onnx"), IoError);
}

}  // namespace
}  // namespace d5

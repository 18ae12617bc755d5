// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "d5/core/files/atomic_file.hpp"
#include "d5/core/files/carried_file.hpp"
#include "d5/evaluation/manifest/dataset_manifest.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"
#include "d5/evaluation/manifest/model_manifest.hpp"

namespace d5 {
namespace {

TEST_CASE("every carried manifest is right, and called as its file") {
  for (const std::string& kind : manifest_kinds().names()) {
    for (const std::string& name : carried_manifests(kind)) {
      const std::string file = manifest_file(kind, name);
      INFO(file);
      const std::string text = detail::read_manifest_file(file);
      CHECK(manifest_kind_of(text, file) == kind);
      for (const auto& fault : lint_manifest(text, file)) CHECK(to_string(fault, file) == "");
    }
  }
  CHECK(carried_manifests("model").size() >= 1);
}

TEST_CASE("a class of imagenet-sample is called what the files of its photographs are") {
  const auto manifest = find_manifest<DatasetManifest>("imagenet-sample").manifest;
  REQUIRE(manifest.labels.size() == 1000);
  for (const auto& sample : manifest.samples) {  // "n01484850_great_white_shark.JPEG"
    std::string words = sample.file.substr(sample.file.find('_') + 1);
    words.resize(words.find('.'));
    std::ranges::replace(words, '_', ' ');
    CHECK(manifest.labels.at(std::size_t(sample.label)) == words);
  }
}

TEST_CASE("the published schemas are those of the manifests") {
  for (const std::string& kind : manifest_kinds().names()) {
    INFO("written by: d5 eval lint --schema " << kind);
    CHECK(read_file(carried_file("data/" + kind + ".schema.json")) == manifest_schema(kind));
  }
}

}  // namespace
}  // namespace d5

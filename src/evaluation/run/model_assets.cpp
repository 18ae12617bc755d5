// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/run/model_assets.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/carried_file.hpp"
#include "d5/evaluation/manifest/semantic_version.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "evaluation/manifest/kept_manifests.hpp"

namespace d5 {
namespace {

/// Adds the file to the store if d5 carries it: in a folder beside the manifest, with its name.
void add_carried(const ManifestAsset& asset, const std::string& reference,
                 const ArtefactStore& store, const Interrupt& interrupt) {
  const std::string model = reference.substr(0, reference.find('@'));
  try {
    (void)store.add(carried_file(fmt::format("data/generators/{}/{}", model, asset.name)),
                    interrupt);
  } catch (const NotFound&) {  // carried by no one
  }
}

}  // namespace

std::string find_asset(const ManifestAsset& asset, const std::string& reference,
                       const Interrupt& interrupt) {
  const ArtefactStore store = detail::store_of(asset.sha256);
  if (asset.urls.empty() && !store.has(asset.sha256)) {
    add_carried(asset, reference, store, interrupt);
  }
  if (asset.urls.empty() && !store.has(asset.sha256)) {
    throw NotFound(
        fmt::format("{}: '{}' (SHA-256 {}) is not in the store of artefacts; make it by: {}",
                    reference, asset.name, asset.sha256, printable(asset.made_by)));
  }
  return store.fetch({.name = asset.name,
                      .urls = asset.urls,
                      .bytes = std::uint64_t(asset.bytes),
                      .sha256 = asset.sha256},
                     interrupt);
}

ModelAssets find_assets(const FoundManifest<ModelManifest>& model, const Interrupt& interrupt) {
  ModelAssets assets;
  assets.model = model.manifest.name;
  const std::string reference = model.manifest.reference();
  assets.artefacts.push_back(
      {.name = model.manifest.name, .version = model.manifest.version, .sha256 = model.digest});
  for (const ManifestAsset& asset : model.manifest.assets) {
    assets.files[asset.name] = find_asset(asset, reference, interrupt);
    assets.artefacts.push_back({.name = asset.name, .version = {}, .sha256 = asset.sha256});
  }
  if (!model.manifest.has_network()) return assets;
  assets.network = assets.files.at(model.manifest.assets.front().name);
  return assets;
}

void expect_framework(const ModelManifest& manifest, const std::string& word) {
  if (find_predictor(word)) return;
  for (const std::string& name : ExecutorWord(word).frameworks()) {
    const auto range = manifest.frameworks.find(name);
    if (range == manifest.frameworks.end()) continue;
    const std::string version = version_of(name);
    if (VersionRange::parse(range->second).holds(SemanticVersion::of_framework(version))) continue;
    throw Unsupported(fmt::format("{} requires {} {}, but here is {}", manifest.reference(), name,
                                  range->second, version));
  }
}

}  // namespace d5

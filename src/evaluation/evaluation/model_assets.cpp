// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/model_assets.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "core/files/cache_folder.hpp"
#include "d5/core/download.hpp"
#include "d5/core/error.hpp"
#include "d5/evaluation/semantic_version.hpp"
#include "d5/level1_network/executor_word.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;

std::string artefact_path(const std::string& sha256) {
  const char* named = std::getenv("D5_CACHE_DIR");
  const fs::path cache = named ? fs::path(named) : detail::user_cache();
  return (cache / "artefacts" / "sha256" / sha256).string();
}

std::string fetched(const ManifestAsset& asset, const std::string& reference,
                    const Interrupt& interrupt) {
  const std::string path = artefact_path(asset.sha256);
  const Download what{.urls = asset.urls, .sha256 = asset.sha256, .sum_of = Download::Sum::file};
  std::error_code absent;
  if (fs::exists(path, absent)) {
    const std::string fault = fault_of(path, what, interrupt);
    if (fault.empty()) return path;
    if (asset.urls.empty()) {
      throw FormatError(fmt::format("{}: '{}' of the store: {}", reference, asset.name, fault));
    }
  } else if (asset.urls.empty()) {
    throw NotFound(
        fmt::format("{}: '{}' (SHA-256 {}) is not in the store of artefacts; make it by: {}",
                    reference, asset.name, asset.sha256, printable(asset.made_by)));
  }
  fs::create_directories(fs::path(path).parent_path(), absent);
  download(what, path, interrupt);
  return path;
}

}  // namespace

ModelAssets find_assets(const FoundManifest<ModelManifest>& model, const Interrupt& interrupt) {
  ModelAssets assets;
  assets.model = model.manifest.name;
  const std::string reference = model.manifest.reference();
  assets.artefacts.push_back(
      {.name = model.manifest.name, .version = model.manifest.version, .sha256 = model.digest});
  for (const ManifestAsset& asset : model.manifest.assets) {
    assets.files[asset.name] = fetched(asset, reference, interrupt);
    assets.artefacts.push_back({.name = asset.name, .version = {}, .sha256 = asset.sha256});
  }
  assets.network = assets.files.at(model.manifest.assets.front().name);
  return assets;
}

void expect_framework(const ModelManifest& manifest, const std::string& word) {
  if (predictors().find(word.substr(0, word.find(':')))) return;
  for (const std::string& name : frameworks_in(word)) {
    const auto range = manifest.frameworks.find(name);
    if (range == manifest.frameworks.end()) continue;
    const std::string version = version_of(name);
    if (VersionRange::parse(range->second).holds(SemanticVersion::of_framework(version))) continue;
    throw Unsupported(fmt::format("{} wants {} {}, but here is {}", manifest.reference(), name,
                                  range->second, version));
  }
}

}  // namespace d5

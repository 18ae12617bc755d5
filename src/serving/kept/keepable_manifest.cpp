// SPDX-License-Identifier: Apache-2.0
#include "serving/kept/keepable_manifest.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

/// The faults that `text` has for a server, in words and places of the sender's own text: those of
/// `kept`, which is the same without the places of its files.
void expect_foreign_manifest(const std::string& text, const std::string& file,
                             const std::string& kept) {
  std::set<std::string> wrong;
  for (const ManifestFault& fault : lint_manifest(kept, file, ManifestOrigin::fetched)) {
    wrong.insert(fault.what);
  }
  if (wrong.empty()) return;
  std::string lines;
  for (const ManifestFault& fault : lint_manifest(text, file, ManifestOrigin::fetched)) {
    if (!wrong.contains(fault.what)) continue;
    lines += (lines.empty() ? "" : "\n") + to_string(fault, file);
  }
  for (const std::string& what : wrong) {
    if (lines.find(what) == lines.npos) lines += (lines.empty() ? "" : "\n") + file + ": " + what;
  }
  throw FormatError(lines);
}

template <class Manifest>
FoundManifest<Manifest> found(Manifest manifest) {
  FoundManifest<Manifest> result;
  result.canonical = canonical_json(manifest);
  result.digest = canonical_digest_of(result.canonical);
  result.manifest = std::move(manifest);
  return result;
}

std::vector<Asset> once_each(std::vector<Asset> files) {
  std::set<std::string> seen;
  std::erase_if(files, [&](const Asset& one) { return !seen.insert(one.sha256).second; });
  return files;
}

}  // namespace

FoundManifest<ModelManifest> keepable_model(const std::string& text, const std::string& file,
                                            const std::map<std::string, std::string>& datasets) {
  auto model = parse_manifest<ModelManifest>(text, file);
  for (AccuracyClaim& claim : model.accuracy) {
    if (const auto known = datasets.find(claim.dataset); known != datasets.end()) {
      claim.dataset = known->second;
    }
  }
  ModelManifest without_places = model;
  for (std::size_t i = 0; i < model.assets.size(); ++i) {
    ManifestAsset& asset = model.assets[i];
    std::erase_if(asset.urls, [](const std::string& url) { return !url.starts_with("http"); });
    if (asset.urls.empty() && asset.made_by.empty()) asset.made_by = "d5 model add";
    without_places.assets[i].urls = {"https://" + asset.sha256 + ".invalid"};
    without_places.assets[i].made_by.clear();
  }
  expect_foreign_manifest(text, file, canonical_json(without_places));
  return found(std::move(model));
}

FoundManifest<DatasetManifest> keepable_dataset(const std::string& text, const std::string& file) {
  auto dataset = parse_manifest<DatasetManifest>(text, file);
  expect_foreign_manifest(text, file, canonical_json(dataset));
  return found(std::move(dataset));
}

std::vector<Asset> files_of(const ModelManifest& model) {
  std::vector<Asset> files;
  for (const ManifestAsset& asset : model.assets) {
    files.push_back({.name = asset.name,
                     .urls = {},
                     .bytes = std::uint64_t(asset.bytes),
                     .sha256 = asset.sha256});
  }
  return once_each(std::move(files));
}

std::vector<Asset> files_of(const DatasetManifest& dataset) {
  std::vector<Asset> files;
  for (const SampleFile& sample : dataset.samples) {
    files.push_back({.name = std::filesystem::path(sample.file).filename().string(),
                     .urls = {},
                     .bytes = std::uint64_t(sample.bytes),
                     .sha256 = sample.sha256});
  }
  return once_each(std::move(files));
}

}  // namespace d5::detail

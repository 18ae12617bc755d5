// SPDX-License-Identifier: Apache-2.0
#include "evaluation/manifest/sample_places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "d5/core/errors/error.hpp"
#include "evaluation/manifest/kept_manifests.hpp"
#include "evaluation/manifest/manifest_paths.hpp"

namespace d5::detail {
namespace {

namespace fs = std::filesystem;

/// Folders where the files may lie, in order.
std::vector<fs::path> searched_folders(const DatasetManifest& manifest) {
  const auto places = places_of(manifest.folder, manifest.beside);
  return {places.begin(), places.end()};
}

/// Whether the folder is that of these samples, as far as the first one's size tells.
bool has_first(const fs::path& folder, const DatasetManifest& manifest) {
  if (manifest.samples.empty()) return false;
  std::error_code absent;
  const auto bytes = fs::file_size(folder / manifest.samples.front().file, absent);
  return !absent && std::int64_t(bytes) == manifest.samples.front().bytes;
}

}  // namespace

std::vector<SampleFile> missing_samples(const DatasetManifest& manifest) {
  const auto folders = searched_folders(manifest);
  std::vector<SampleFile> missing;
  if (std::ranges::any_of(folders, [&](auto& one) { return has_first(one, manifest); })) {
    return missing;
  }
  std::ranges::copy_if(manifest.samples, std::back_inserter(missing),
                       [](const SampleFile& one) { return !store_of(one.sha256).has(one.sha256); });
  return missing;
}

SamplePlaces::SamplePlaces(const DatasetManifest& manifest) {
  const auto folders = searched_folders(manifest);
  const auto whole =
      std::ranges::find_if(folders, [&](auto& one) { return has_first(one, manifest); });
  if (whole != folders.end()) {
    folder_ = whole->string();
    return;
  }
  if (!manifest.samples.empty() && missing_samples(manifest).empty()) return;
  std::string searched;
  for (const fs::path& place : folders) {
    std::error_code absent;
    if (fs::is_directory(place, absent)) {  // reading says which file is missing or wrong
      folder_ = place.string();
      return;
    }
    searched += fmt::format("{}'{}'", searched.empty() ? "" : ", ", printable(place.string()));
  }
  throw NotFound(
      fmt::format("data set {}: its folder '{}' is missing; searched: {}; put it beside the "
                  "manifest, or set D5_DATA_DIR to the folder above it",
                  manifest.reference(), printable(manifest.folder), searched));
}

std::string SamplePlaces::path_of(const SampleFile& sample) const {
  if (folder_.empty()) return store_of(sample.sha256).path_of(sample.sha256);
  return (fs::path(folder_) / sample.file).string();
}

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#include "evaluation/manifest/kept_manifests.hpp"

#include <algorithm>
#include <filesystem>
#include <mutex>

namespace d5::detail {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEnding = ".json";

struct Place {
  std::mutex mutex;
  std::string folder;
};
Place& place() {
  static Place one;
  return one;
}

}  // namespace

void keep_manifests_in(const std::string& folder) {
  const std::scoped_lock lock(place().mutex);
  place().folder = folder;
}

std::string kept_manifests() {
  const std::scoped_lock lock(place().mutex);
  return place().folder;
}

bool is_kept(const std::string& file) {
  const std::string folder = kept_manifests();
  return !folder.empty() && file.starts_with(folder + "/");
}

std::string kept_manifest_file(const std::string& folder, const std::string& kind,
                               const std::string& name) {
  return (fs::path(folder) / (kind + "s") / (name + kEnding)).string();
}

std::vector<std::string> kept_names(const std::string& folder, const std::string& kind) {
  std::vector<std::string> names;
  if (folder.empty()) return names;
  std::error_code absent;
  for (const auto& file : fs::directory_iterator(fs::path(folder) / (kind + "s"), absent)) {
    if (file.path().extension() == kEnding) names.push_back(file.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

ArtefactStore kept_store(const std::string& folder) {
  return ArtefactStore((fs::path(folder) / "artefacts").string());
}

ArtefactStore store_of(const std::string& sha256) {
  ArtefactStore own;
  const std::string folder = kept_manifests();
  if (folder.empty() || own.has(sha256)) return own;
  ArtefactStore kept = kept_store(folder);
  return kept.has(sha256) ? kept : own;
}

}  // namespace d5::detail

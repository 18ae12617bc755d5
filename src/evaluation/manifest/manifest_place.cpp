// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/manifest_place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/files/cache_folder.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/files/carried_file.hpp"
#include "d5/evaluation/manifest/described_folder.hpp"
#include "d5/evaluation/manifest/semantic_version.hpp"
#include "evaluation/manifest/kept_manifests.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostManifestBytes = std::size_t{64} << 20;

/// The file in which d5 remembers versions; empty without a home folder.
fs::path ledger_folder() {
  const fs::path cache = detail::kept_folder();
  return cache.empty() ? cache : cache / "manifests";
}

/// Names of the manifests that d5 ships.
std::vector<std::string> shipped_names(const std::string& kind) {
  try {
    return carried_names("data/" + kind + "s");
  } catch (const NotFound&) {
    return {};
  }
}

}  // namespace

bool is_manifest_path(const std::string& word) {
  const std::string ending = fs::path(word).extension().string();
  return word.find('/') != std::string::npos || ending == ".yaml" || ending == ".yml" ||
         ending == ".json";
}

std::vector<std::string> carried_manifests(const std::string& kind) {
  std::vector<std::string> names = shipped_names(kind);
  for (std::string& name : detail::kept_names(detail::kept_manifests(), kind)) {
    names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

std::string manifest_file(const std::string& kind, const std::string& word) {
  if (kind == "model" && fs::path(word).extension() == ".onnx") {
    throw ValueError(
        fmt::format("'{0}' is a network, expected a manifest that says how it is used; "
                    "'d5 net describe {0}' writes one",
                    printable(word)));
  }
  std::error_code absent;
  if (is_manifest_path(word)) {
    if (fs::exists(word, absent)) return word;
    throw NotFound(fmt::format("there is no manifest '{}'", printable(word)));
  }
  const std::string name = word.substr(0, word.find('@'));
  const auto known = carried_manifests(kind);
  if (std::ranges::find(known, name) == known.end()) {
    if (kind == "dataset" && fs::is_directory(word, absent)) return word;
    throw_unknown_name(kind + " manifest", name, known);
  }
  const auto shipped = shipped_names(kind);
  if (std::ranges::find(shipped, name) != shipped.end()) {
    return carried_file(fmt::format("data/{}s/{}.yaml", kind, name));
  }
  return detail::kept_manifest_file(detail::kept_manifests(), kind, name);
}

namespace detail {

std::string read_manifest_file(const std::string& file) {
  std::error_code absent;
  if (fs::is_directory(file, absent)) return described_folder(file);
  return read_file(file, kMostManifestBytes);
}

void expect_reference(const std::string& word, const std::string& reference,
                      const std::string& file) {
  if (is_manifest_path(word) || word.find('@') == std::string::npos || word == reference) return;
  throw ValueError(
      fmt::format("'{}' is {}, expected {}", printable(file), reference, printable(word)));
}

void expect_unchanged(const std::string& kind, const std::string& reference,
                      const std::string& version, const std::string& digest,
                      const std::string& file) {
  const bool may_change = !SemanticVersion::parse(version).pre_release.empty();
  const fs::path folder = ledger_folder();
  // A server that keeps manifests remembers their versions itself.
  if (may_change || folder.empty() || is_kept(file)) return;
  const fs::path seen = folder / kind / reference;
  std::error_code absent;
  if (!fs::exists(seen, absent)) {
    try {
      fs::create_directories(seen.parent_path());
      write_file(seen.string(), digest);
    } catch (const std::exception&) {  // without write access nothing is remembered
    }
    return;
  }
  const std::string before = read_file(seen.string(), 1024);
  if (before == digest) return;
  throw ValueError(
      fmt::format("'{}': {} is now {}, but stood for {} before; a version keeps its content: use a "
                  "new version, or a pre-release such as {}-dev while it changes",
                  printable(file), reference, digest, printable(before), version));
}

}  // namespace detail
}  // namespace d5

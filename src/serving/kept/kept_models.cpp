// SPDX-License-Identifier: Apache-2.0
#include "serving/kept/kept_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>

#include "core/files/artefact_places.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/evaluation/manifest/semantic_version.hpp"
#include "evaluation/manifest/kept_manifests.hpp"
#include "serving/kept/keepable_manifest.hpp"

namespace d5::detail {
namespace {

namespace fs = std::filesystem;
using What = KeptModels::Answer::What;

const std::vector<std::string>& kinds() {
  static const std::vector<std::string> kKinds = {ModelManifest::kKind, DatasetManifest::kKind};
  return kKinds;
}

FileLock lock_of(const std::string& folder) {
  std::error_code error;
  for (const std::string& kind : kinds()) {
    fs::create_directories(fs::path(folder) / (kind + "s"), error);
    if (error) break;
  }
  if (error) {
    throw IoError(
        fmt::format("'{}' cannot be a folder of models: {}", printable(folder), error.message()));
  }
  auto lock = FileLock::if_free((fs::path(folder) / "lock").string());
  if (lock) return std::move(*lock);
  throw IoError(fmt::format("a server keeps models in '{}' now; give this one another folder",
                            printable(folder)));
}

std::string version_file(const std::string& folder, const std::string& kind,
                         const std::string& reference) {
  return (fs::path(folder) / "versions" / kind / reference).string();
}

bool may_change(const std::string& version) {
  return !SemanticVersion::parse(version).pre_release.empty();
}

void expect_size(const Asset& file, const std::string& path) {
  const auto bytes = fs::file_size(path);
  if (bytes == file.bytes) return;
  throw FormatError(fmt::format("'{}' has {} bytes, but the manifest says {}; its SHA-256 is {}",
                                printable(file.name), bytes, file.bytes, file.sha256));
}

std::string name_before_version(const std::string& word) { return word.substr(0, word.find('@')); }

}  // namespace

KeptModels::KeptModels(const std::string& folder, std::uint64_t most_bytes)
    : folder_(fs::absolute(folder).lexically_normal().string()),
      lock_(lock_of(folder_)),
      store_(kept_store(folder_)),
      uploads_((fs::path(folder_) / "uploads").string(), store_, most_bytes) {
  keep_manifests_in(folder_);
}

KeptModels::~KeptModels() { keep_manifests_in({}); }

KeptModels::Manifest KeptModels::read(const std::string& kind, const std::string& text,
                                      const std::string& file) {
  const auto of = [&](const auto& found) {
    return Manifest{kind,         found.manifest.name,     found.manifest.version, found.canonical,
                    found.digest, files_of(found.manifest)};
  };
  if (kind == ModelManifest::kKind) return of(keepable_model(text, file));
  return of(keepable_dataset(text, file));
}

std::string KeptModels::name_of(const std::string& kind, const std::string& text) {
  return read(kind, text, "manifest").name;
}

KeptModels::Manifest KeptModels::kept(const std::string& kind, const std::string& name) const {
  const std::string file = kept_manifest_file(folder_, kind, name);
  return read(kind, read_manifest_file(file), file);
}

bool KeptModels::has(const std::string& kind, const std::string& name) const {
  const auto names = kept_names(folder_, kind);
  return std::ranges::find(names, name) != names.end();
}

std::string KeptModels::conflict_of(const Manifest& manifest, Replace replace) const {
  const std::string seen = version_file(folder_, manifest.kind, manifest.reference());
  std::error_code absent;
  constexpr std::size_t kDigest = 64;
  if (fs::exists(seen, absent)) {
    if (const std::string before = read_file(seen, kDigest); before != manifest.digest) {
      return fmt::format(
          "{} is now {}, but stood for {} before; a version keeps its content: use a new version, "
          "or a pre-release such as {}-dev while it changes",
          manifest.reference(), manifest.digest, before, manifest.version);
    }
  }
  if (!has(manifest.kind, manifest.name)) {
    const auto known = carried_manifests(manifest.kind);
    if (std::ranges::find(known, manifest.name) == known.end()) return {};
    return fmt::format("d5 carries a {} of the name {}; choose another name", manifest.kind,
                       manifest.name);
  }
  if (replace == Replace::yes) return {};
  return fmt::format(
      "{} is kept here already, with other content; replace it ({}), or choose another name",
      kept(manifest.kind, manifest.name).reference(), option_word("replace"));
}

KeptModels::Answer KeptModels::add(const std::string& kind, const std::string& text,
                                   Replace replace) {
  const Manifest manifest = read(kind, text, "manifest");
  Answer answer{.reference = manifest.reference(), .sha256 = manifest.digest};
  const auto refused = [&](What what, std::string reason) {
    answer.what = what;
    answer.reason = std::move(reason);
    return answer;
  };
  const std::lock_guard lock(mutex_);
  std::optional<Manifest> before;
  if (has(kind, manifest.name)) before = kept(kind, manifest.name);
  const bool is_same = before && before->digest == manifest.digest;
  std::string conflict = is_same ? "" : conflict_of(manifest, replace);
  if (!conflict.empty()) return refused(What::conflict, std::move(conflict));
  std::uint64_t bytes = 0;
  for (const Asset& file : manifest.files) {
    if (store_.has(file.sha256)) {
      expect_size(file, store_.path_of(file.sha256));
      continue;
    }
    bytes += file.bytes;
    answer.files.push_back(file);
  }
  if (!answer.files.empty()) {
    std::string full = uploads_.why_full(bytes);
    if (!full.empty()) return refused(What::too_large, std::move(full));
    return refused(What::missing, fmt::format("{} has {} files that are not here; send them first",
                                              answer.reference, answer.files.size()));
  }
  if (is_same) {
    answer.what = What::was_there;
    return answer;
  }
  keep(manifest);
  if (before) drop(*before);
  return answer;
}

/// Writes a data set's manifest as a file of the store, too, from where agents fetch it.
void KeptModels::keep(const Manifest& manifest) const {
  if (manifest.kind == DatasetManifest::kKind) {
    const std::string file = (fs::path(folder_) / (manifest.name + ".adding")).string();
    write_file(file, manifest.canonical);
    (void)store_.add(file);
    fs::remove(file);
  }
  if (!may_change(manifest.version)) {
    const std::string seen = version_file(folder_, manifest.kind, manifest.reference());
    fs::create_directories(fs::path(seen).parent_path());
    write_file(seen, manifest.digest);
  }
  write_file(kept_manifest_file(folder_, manifest.kind, manifest.name), manifest.canonical);
}

void KeptModels::remove(const std::string& kind, const std::string& word) {
  const std::lock_guard lock(mutex_);
  const std::string name = name_before_version(word);
  if (!has(kind, name)) {
    const auto known = carried_manifests(kind);
    if (std::ranges::find(known, name) != known.end()) {
      throw ValueError(fmt::format("d5 carries the {} {}, so it stays", kind, printable(name)));
    }
    const bool is_model = kind == ModelManifest::kKind;
    const std::string other = is_model ? DatasetManifest::kKind : ModelManifest::kKind;
    if (has(other, name)) {
      throw NotFound(fmt::format("{0} '{1}' is unknown, but {1} is a {2}; {3} {4}", kind,
                                 printable(name), other, is_model ? "give" : "leave out",
                                 option_word("dataset")));
    }
    throw_unknown_name(kind, name, kept_names(folder_, kind));
  }
  const Manifest manifest = kept(kind, name);
  if (word != name && word != manifest.reference()) {
    throw NotFound(fmt::format("'{}' is not kept, but {}", printable(word), manifest.reference()));
  }
  fs::remove(kept_manifest_file(folder_, kind, name));
  drop(manifest);
}

/// Removes the files of a manifest that no other one names, and its own.
void KeptModels::drop(const Manifest& manifest) const {
  auto files = manifest.files;
  files.push_back({.name = manifest.name, .urls = {}, .sha256 = manifest.digest});
  std::set<std::string> needed;
  for (const std::string& kind : kinds()) {
    for (const std::string& name : kept_names(folder_, kind)) {
      const Manifest other = kept(kind, name);
      needed.insert(other.digest);
      for (const Asset& file : other.files) needed.insert(file.sha256);
    }
  }
  const ArtefactPlaces places(store_.folder());
  for (const Asset& file : files) {
    if (needed.contains(file.sha256)) continue;
    const FileLock lock(places.lock(file.sha256));
    (void)places.remove(file.sha256);
  }
}

}  // namespace d5::detail

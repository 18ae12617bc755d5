// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "d5/evaluation/manifest/manifest.hpp"

namespace d5 {

/// A manifest with its file and digest.
template <class Manifest>
struct FoundManifest {
  Manifest manifest;
  std::string file;       ///< path
  std::string canonical;  ///< JSON (RFC 8785)
  std::string digest;     ///< its SHA-256
};

/// Finds the file of a manifest by a word: a path (with "/" or the ending .yaml, .yml or .json), or
/// NAME or NAME@VERSION of a built-in one: data/models/NAME.yaml, data/datasets, data/frameworks,
/// data/systems, data/evaluations. A data set may also be a folder of samples, which stands for
/// what `described_folder` writes. Throws: NotFound with the nearest names; ValueError for a
/// network file, which is no manifest.
[[nodiscard]] std::string manifest_file(const std::string& kind, const std::string& word);
/// Names of the built-in ones, in order.
[[nodiscard]] std::vector<std::string> carried_manifests(const std::string& kind);
/// Whether a word is a path.
[[nodiscard]] bool is_manifest_path(const std::string& word);
/// Files and folders that a valid manifest of one's own names and that are missing here, as faults:
/// what a run would refuse. Empty if all are there, and for a manifest with faults. Throws:
/// FormatError for a file that is no YAML.
[[nodiscard]] std::vector<ManifestFault> missing_files(const std::string& text,
                                                       const std::string& file);

namespace detail {
/// The content of `file`, or the description of a folder. Throws: IoError, ValueError.
std::string read_manifest_file(const std::string& file);
/// Throws: ValueError if `word` is NAME@VERSION and `reference` differs.
void expect_reference(const std::string& word, const std::string& reference,
                      const std::string& file);
/// Throws: ValueError if `reference` stood for another content here before; a pre-release may
/// change.
void expect_unchanged(const std::string& kind, const std::string& reference,
                      const std::string& version, const std::string& digest,
                      const std::string& file);
/// Parses a manifest. A server parses the same texts repeatedly, so recent results are cached by
/// text. Thread safety: any number of threads. Throws: FormatError.
template <class Manifest>
[[nodiscard]] FoundManifest<Manifest> read_once(const std::string& text, const std::string& file) {
  static std::mutex mutex;
  static std::map<std::string, FoundManifest<Manifest>> kept;
  constexpr std::size_t kMost = 64;
  {
    const std::scoped_lock lock(mutex);
    if (const auto found = kept.find(text); found != kept.end()) return found->second;
  }
  FoundManifest<Manifest> read;
  read.manifest = parse_manifest<Manifest>(text, file);
  read.canonical = canonical_json(read.manifest);
  read.digest = canonical_digest_of(read.canonical);
  const std::scoped_lock lock(mutex);
  if (kept.size() >= kMost) kept.clear();
  kept.emplace(text, read);
  return read;
}
}  // namespace detail

/// Finds and parses a manifest, and checks that its name and version still stand for the same
/// content on this machine.
///
///     const auto model = find_manifest<ModelManifest>("efficientnet-lite0");
///
/// Throws: NotFound, IoError, FormatError; ValueError for another version than requested, and for a
/// version whose content changed, with both digests.
template <class Manifest>
[[nodiscard]] FoundManifest<Manifest> find_manifest(const std::string& word) {
  const std::string file = manifest_file(Manifest::kKind, word);
  auto found = detail::read_once<Manifest>(detail::read_manifest_file(file), file);
  found.file = file;
  found.manifest.beside = detail::folder_of_manifest(file);  // not that of the same text elsewhere
  detail::expect_reference(word, found.manifest.reference(), found.file);
  detail::expect_unchanged(Manifest::kKind, found.manifest.reference(), found.manifest.version,
                           found.digest, found.file);
  return found;
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/entries/registry.hpp"
#include "d5/evaluation/manifest/manifest_fields.hpp"

namespace d5 {

/// Origin of a manifest.
enum class ManifestOrigin {
  own,     ///< a file of this machine, chosen by its user
  fetched  ///< from a network: it may name no code and no place of this machine
};

/// One fault of a manifest; lines and columns count from 1.
struct ManifestFault {
  int line = 1, column = 1;
  std::string what;
  bool operator==(const ManifestFault&) const = default;
};
/// "FILE:LINE:COLUMN: WHAT".
[[nodiscard]] std::string to_string(const ManifestFault& fault, const std::string& file);

/// A kind of manifest, for `lint_manifest` and `manifest_schema`.
struct ManifestKind {
  std::string summary;
  std::function<void(ManifestFields&)>
      declare_fresh;  ///< declares the fields of one with its defaults

  template <class Manifest>
  [[nodiscard]] static ManifestKind of(std::string summary) {
    return {std::move(summary), [](ManifestFields& fields) { Manifest().declare(fields); }};
  }
};
/// model, framework, dataset, system, evaluation.
[[nodiscard]] Registry<ManifestKind>& manifest_kinds();

/// All faults of a manifest of any kind, by its key `kind`; empty if it is valid. `file` is the
/// name in messages.
[[nodiscard]] std::vector<ManifestFault> lint_manifest(const std::string& text,
                                                       const std::string& file,
                                                       ManifestOrigin origin = ManifestOrigin::own);

/// The value of a manifest's key `kind`; empty without one. Throws: FormatError.
[[nodiscard]] std::string manifest_kind_of(const std::string& text, const std::string& file);

/// The JSON Schema (draft 2020-12) of the manifests of a kind. Throws: NotFound.
[[nodiscard]] std::string manifest_schema(const std::string& kind);

namespace detail {
/// `ManifestIdentity::beside` of a manifest's file: "." for one in the working directory.
std::string folder_of_manifest(const std::string& file);
void read_manifest(const std::string& text, const std::string& file, const std::string& kind,
                   ManifestOrigin origin, const std::function<void(ManifestFields&)>& declare);
std::string canonical_manifest(const std::string& kind,
                               const std::function<void(ManifestFields&)>& declare,
                               const std::function<void(ManifestFields&)>& declare_fresh);
}  // namespace detail

/// Parses a manifest strictly: ModelManifest, FrameworkManifest, DatasetManifest, SystemManifest or
/// EvaluationManifest.
///
///     const auto model = parse_manifest<ModelManifest>(text, "model.yaml");
///
/// Throws: FormatError with all faults, one per line.
template <class Manifest>
[[nodiscard]] Manifest parse_manifest(const std::string& text, const std::string& file,
                                      ManifestOrigin origin = ManifestOrigin::own) {
  Manifest manifest;
  manifest.beside = detail::folder_of_manifest(file);
  detail::read_manifest(text, file, Manifest::kKind, origin,
                        [&](ManifestFields& fields) { manifest.declare(fields); });
  return manifest;
}

/// SHA-256 of text that is canonical already.
[[nodiscard]] std::string canonical_digest_of(const std::string& canonical);

/// The canonical JSON (RFC 8785) of a manifest; members with their default values are left out. Its
/// SHA-256 is the manifest's digest.
template <class Manifest>
[[nodiscard]] std::string canonical_json(const Manifest& manifest) {
  Manifest copy = manifest;
  return detail::canonical_manifest(
      Manifest::kKind, [&](ManifestFields& fields) { copy.declare(fields); },
      [](ManifestFields& fields) { Manifest().declare(fields); });
}
template <class Manifest>
[[nodiscard]] std::string digest_of(const Manifest& manifest) {
  return canonical_digest_of(canonical_json(manifest));
}

}  // namespace d5

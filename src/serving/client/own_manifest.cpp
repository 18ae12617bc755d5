// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/client/own_manifest.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>

#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/evaluation/manifest/described_folder.hpp"
#include "d5/evaluation/manifest/described_model.hpp"
#include "evaluation/manifest/kept_manifests.hpp"
#include "evaluation/manifest/sample_places.hpp"
#include "serving/kept/keepable_manifest.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;

/// The path in a file address (RFC 8089); nothing for another address.
std::optional<fs::path> path_in(const std::string& url) {
  constexpr std::string_view kFile = "file://";
  constexpr int kHex = 16;
  if (!url.starts_with(kFile)) return std::nullopt;
  std::string path;
  for (std::size_t i = kFile.size(); i < url.size(); ++i) {
    unsigned char code = 0;
    const char* const digits = url.data() + i + 1;
    const bool is_code = url[i] == '%' && i + 2 < url.size() &&
                         std::from_chars(digits, digits + 2, code, kHex).ptr == digits + 2;
    path += is_code ? char(code) : url[i];
    if (is_code) i += 2;
  }
  return path;
}

/// Whether the file has the content that a manifest expects.
bool holds(const fs::path& file, const Asset& asset, const Interrupt& interrupt) {
  std::error_code absent;
  if (!fs::is_regular_file(file, absent) || fs::file_size(file, absent) != asset.bytes) {
    return false;
  }
  return detail::sha256_of_file(file.string(), interrupt) == asset.sha256;
}

/// Places on this machine where an asset may lie.
std::vector<fs::path> places_of(const ManifestAsset& asset, const fs::path& beside) {
  std::vector<fs::path> places;
  for (const std::string& url : asset.urls) {
    if (auto path = path_in(url)) places.push_back(*std::move(path));
  }
  places.push_back(beside / asset.name);
  const ArtefactStore store = detail::store_of(asset.sha256);
  places.emplace_back(store.path_of(asset.sha256));
  return places;
}

template <class Manifest>
OwnManifest own(const FoundManifest<Manifest>& found) {
  return {.kind = Manifest::kKind,
          .name = found.manifest.name,
          .reference = found.manifest.reference(),
          .text = found.canonical};
}

/// `beside`: a folder that may hold the samples, or their folder.
OwnManifest own_dataset(const std::string& text, const std::string& file, const fs::path& beside) {
  const auto found = detail::keepable_dataset(text, file);
  const DatasetManifest& dataset = found.manifest;
  OwnManifest result = own(found);
  std::error_code absent;
  for (const fs::path& folder : {beside, beside / dataset.folder}) {
    if (dataset.samples.empty() || !fs::exists(folder / dataset.samples.front().file, absent)) {
      continue;
    }
    for (const SampleFile& sample : dataset.samples) {
      result.files[sample.sha256] = (folder / sample.file).string();
    }
    return result;
  }
  if (dataset.samples.empty()) return result;
  const detail::SamplePlaces places(dataset);
  for (const SampleFile& sample : dataset.samples) {
    result.files[sample.sha256] = places.path_of(sample);
  }
  return result;
}

OwnManifest own_model(const std::string& text, const std::string& file, const fs::path& beside,
                      const std::map<std::string, std::string>& datasets,
                      const Interrupt& interrupt) {
  const auto given = parse_manifest<ModelManifest>(text, file);
  OwnManifest result = own(detail::keepable_model(text, file, datasets));
  for (const ManifestAsset& asset : given.assets) {
    const Asset expected{.name = asset.name,
                         .urls = {},
                         .bytes = std::uint64_t(asset.bytes),
                         .sha256 = asset.sha256};
    for (const fs::path& place : places_of(asset, beside)) {
      if (!holds(place, expected, interrupt)) continue;
      result.files[asset.sha256] = place.string();
      break;
    }
  }
  return result;
}

std::vector<OwnManifest> described(OwnManifest manifest) {
  manifest.is_described = true;
  return {std::move(manifest)};
}

}  // namespace

std::vector<OwnManifest> own_manifests(const std::string& word, const Interrupt& interrupt) {
  const fs::path path(word);
  if (path.extension() == ".onnx") {
    return described(own_model(described_model(word), word, path.parent_path(), {}, interrupt));
  }
  std::error_code absent;
  if (fs::is_directory(path, absent)) {
    return described(own_dataset(described_folder(word), word, path));
  }
  if (!is_manifest_path(word)) {
    throw NotFound(fmt::format(
        "'{}' is no file: expected a manifest (.yaml), a network (.onnx) or a folder of samples",
        printable(word)));
  }
  const std::string text = detail::read_manifest_file(manifest_file(ModelManifest::kKind, word));
  const std::string kind = manifest_kind_of(text, word);
  if (kind == DatasetManifest::kKind) return {own_dataset(text, word, path.parent_path())};
  if (kind != ModelManifest::kKind) {
    throw FormatError(
        fmt::format("'{}' is a manifest of kind '{}': a server keeps models and data "
                    "sets, and gets an evaluation by 'd5 eval run'",
                    printable(word), printable(kind)));
  }
  std::vector<OwnManifest> all;
  std::map<std::string, std::string> references;
  for (const AccuracyClaim& claim : parse_manifest<ModelManifest>(text, word).accuracy) {
    if (!is_manifest_path(claim.dataset) || references.contains(claim.dataset)) continue;
    const std::string file = manifest_file(DatasetManifest::kKind, claim.dataset);
    all.push_back(
        own_dataset(detail::read_manifest_file(file), claim.dataset, fs::path(file).parent_path()));
    references[claim.dataset] = all.back().reference;
  }
  all.push_back(own_model(text, word, path.parent_path(), references, interrupt));
  return all;
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "serving/agent/brought_files.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/artefact_store.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"
#include "evaluation/manifest/sample_places.hpp"
#include "evaluation/run/generator_model.hpp"
#include "serving/kept/keepable_manifest.hpp"

namespace d5::detail {
namespace {

using nlohmann::json;

/// One evaluation's way from the source to the store.
class Bringing {
 public:
  Bringing(std::string folder, const FileSource& source,
           const std::function<void(const std::string&)>& said, const Interrupt& interrupt)
      : folder_(std::move(folder)), source_(source), said_(said), interrupt_(interrupt) {}

  /// Returns false if neither this machine nor the source has the file.
  bool bring(const Asset& asset) {
    if (store_.has(asset.sha256)) return true;
    interrupt_.check("fetching files");
    std::filesystem::create_directories(folder_);
    const std::string file =
        (std::filesystem::path(folder_) / (asset.name.empty() ? asset.sha256 : asset.name))
            .string();
    std::ofstream out(file, std::ios::binary);
    Sha256 digest;
    bool has_begun = false;
    const bool is_there = source_(asset.sha256, [&](std::string_view bytes) {
      if (!has_begun) said_(fmt::format("fetching {}", printable(asset.name)));
      has_begun = true;
      digest.add(bytes);
      out.write(bytes.data(), std::streamsize(bytes.size()));
    });
    out.close();
    const std::string given = digest.digest();
    if (is_there && !out) throw IoError(fmt::format("'{}' cannot be written", printable(file)));
    if (is_there && given != asset.sha256) {
      throw FormatError(fmt::format("the server sent '{}' with the SHA-256 {}, expected {}",
                                    printable(asset.name), given, asset.sha256));
    }
    if (is_there) (void)store_.add(file, interrupt_);
    std::filesystem::remove(file);
    return is_there;
  }

  void bring_dataset(const std::string& reference, const std::string& digest) {
    if (const auto here = own_dataset(reference); here && here->digest == digest) {
      return bring_samples(here->manifest);
    }
    if (!bring({.name = "", .urls = {}, .sha256 = digest})) return;
    const std::string file = store_.path_of(digest);
    DatasetManifest dataset = keepable_dataset(read_manifest_file(file), reference).manifest;
    dataset.beside = folder_of_manifest(file);  // as the evaluation has it
    bring_samples(dataset);
  }

 private:
  static std::optional<FoundManifest<DatasetManifest>> own_dataset(const std::string& reference) {
    try {
      return find_manifest<DatasetManifest>(reference);
    } catch (const Error&) {  // unknown here, or another version
      return std::nullopt;
    }
  }
  void bring_samples(const DatasetManifest& dataset) {
    for (const SampleFile& sample : missing_samples(dataset)) {
      const bool is_there = bring({.name = std::filesystem::path(sample.file).filename().string(),
                                   .urls = {},
                                   .bytes = std::uint64_t(sample.bytes),
                                   .sha256 = sample.sha256});
      if (!is_there) return;  // the server keeps all of them, or none
    }
  }

  ArtefactStore store_;
  std::string folder_;
  const FileSource& source_;
  const std::function<void(const std::string&)>& said_;
  const Interrupt& interrupt_;
};

}  // namespace

void bring_files(const std::string& evaluation, const std::string& folder, const FileSource& source,
                 const std::function<void(const std::string&)>& said, const Interrupt& interrupt) {
  const json all = json::parse(evaluation, nullptr, /*allow_exceptions=*/false);
  if (!all.is_object()) return;
  Bringing bringing(folder, source, said, interrupt);
  for (const json& content : all.value("models", json::array())) {
    const auto model = read_model(content.dump(), "a job");
    for (const Asset& asset : files_of(model.manifest)) (void)bringing.bring(asset);
  }
  for (const json& told : all.value("datasets", json::array())) {
    bringing.bring_dataset(told.value("reference", ""), told.value("sha256", ""));
  }
}

}  // namespace d5::detail

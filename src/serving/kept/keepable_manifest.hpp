// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "d5/core/files/artefact_store.hpp"
#include "d5/evaluation/manifest/dataset_manifest.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"

namespace d5::detail {

// Manifests of others as a server keeps them. Their files come by digest, so where their sender
// found them is left out. Apart from that they name no code and no place of any machine. `file` is
// the name in messages. Throws: FormatError with all faults, one per line.

/// `datasets` gives NAME@VERSION for paths of data sets in claims.
[[nodiscard]] FoundManifest<ModelManifest> keepable_model(
    const std::string& text, const std::string& file,
    const std::map<std::string, std::string>& datasets = {});
[[nodiscard]] FoundManifest<DatasetManifest> keepable_dataset(const std::string& text,
                                                              const std::string& file);

/// The files of a manifest, each digest once.
[[nodiscard]] std::vector<Asset> files_of(const ModelManifest& model);
[[nodiscard]] std::vector<Asset> files_of(const DatasetManifest& dataset);

}  // namespace d5::detail

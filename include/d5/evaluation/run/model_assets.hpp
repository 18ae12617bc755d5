// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"
#include "d5/evaluation/manifest/model_manifest.hpp"
#include "d5/evaluation/predictor/predictor.hpp"

namespace d5 {

/// Paths of a model's files in the store of artefacts, with their digests checked now; missing
/// files are downloaded if they may be. Throws: NotFound for a missing file without an address,
/// with the command that makes it; IoError, Interrupted.
[[nodiscard]] ModelAssets find_assets(const FoundManifest<ModelManifest>& model,
                                      const Interrupt& interrupt = {});

/// Path of one file of `reference`, a manifest, in the same way.
[[nodiscard]] std::string find_asset(const ManifestAsset& asset, const std::string& reference,
                                     const Interrupt& interrupt = {});

/// Throws: ValueError if the manifest and the network disagree about inputs, outputs, types or
/// shapes, with both sides.
void expect_agreement(const ModelManifest& manifest, const Network& network);

/// Throws: Unsupported if the manifest excludes the framework's version.
void expect_framework(const ModelManifest& manifest, const std::string& word);

}  // namespace d5

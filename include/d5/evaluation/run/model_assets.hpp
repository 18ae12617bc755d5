// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"
#include "d5/evaluation/manifest/model_manifest.hpp"
#include "d5/evaluation/predictor/predictor.hpp"

namespace d5 {

/// The files of a model, from the store of artefacts, each held against its digest at this moment;
/// fetched where they are missing and may be.
/// Throws: NotFound for one that is not there and has no address, with the command that makes it;
/// IoError, Interrupted.
[[nodiscard]] ModelAssets find_assets(const FoundManifest<ModelManifest>& model,
                                      const Interrupt& interrupt = {});

/// Throws: ValueError where the manifest and the network disagree: inputs and outputs that are not
/// there, other types and shapes; each with both sides.
void expect_agreement(const ModelManifest& manifest, const Network& network);

/// Throws: Unsupported where the manifest excludes the framework's version.
void expect_framework(const ModelManifest& manifest, const std::string& word);

}  // namespace d5

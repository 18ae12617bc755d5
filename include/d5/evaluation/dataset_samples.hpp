// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "d5/evaluation/dataset_manifest.hpp"
#include "d5/level2_training/dataset.hpp"

namespace d5 {

/// The samples that a manifest names: its files, each held against its bytes and digest whenever it
/// is read, or what its reader opens. With `split` those of it alone.
/// Throws: NotFound where the folder is nowhere, with the places, or there is no such split; what
/// opening throws. Reading throws FormatError for a file that is another.
[[nodiscard]] std::shared_ptr<const Dataset> open_samples(const DatasetManifest& manifest,
                                                          const std::string& split = {},
                                                          const Interrupt& interrupt = {});

}  // namespace d5

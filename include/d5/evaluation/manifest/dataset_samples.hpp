// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/evaluation/manifest/dataset_manifest.hpp"
#include "d5/level2_training/data/dataset.hpp"

namespace d5 {

/// The samples that a manifest names: its files, each held against its bytes and digest whenever it
/// is read, or what its reader opens. With `split` those of it alone.
/// Throws: NotFound where the folder is nowhere, with the places, or there is no such split; what
/// opening throws. Reading throws FormatError for a file that is another.
[[nodiscard]] std::shared_ptr<const Dataset> open_samples(const DatasetManifest& manifest,
                                                          const std::string& split = {},
                                                          const Interrupt& interrupt = {});

/// Opens what the readers of these manifests read, and holds it, in the place of what was held
/// before: for a minute `open_samples` takes it from there, in this process and in those that are
/// forked from it, if all files are as they were read. What cannot be opened, takes longer than
/// five seconds, may fetch its files, or was read in another way than by `read_file`, is not held.
void hold_samples(const std::vector<DatasetManifest>& manifests);

}  // namespace d5

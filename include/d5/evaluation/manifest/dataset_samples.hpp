// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/evaluation/manifest/dataset_manifest.hpp"
#include "d5/level2_training/data/dataset.hpp"

namespace d5 {

/// Opens the samples of a manifest: its files, whose size and digest are checked at every read, or
/// what its reader opens. With `split`, only those samples. Throws: NotFound if the folder is
/// missing, with the searched places, or there is no such split; what opening throws. Reading
/// throws FormatError for a file that was changed.
[[nodiscard]] std::shared_ptr<const Dataset> open_samples(const DatasetManifest& manifest,
                                                          const std::string& split = {},
                                                          const Interrupt& interrupt = {});

/// Opens the data of these manifests' readers and keeps it, replacing what was kept before. For a
/// minute `open_samples` uses it, in this process and in processes forked from it, if all files are
/// unchanged. Data is not kept if it cannot be opened, takes longer than five seconds, may download
/// its files, or was read otherwise than by `read_file`.
void hold_samples(const std::vector<DatasetManifest>& manifests);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "d5/evaluation/run/evaluate.hpp"

namespace d5::detail {

/// SHA-256 of files by name: relative to the place where a manifest's paths lead, or absolute.
using FileDigests = std::map<std::string, std::string>;

/// All files that a data set's samples come from: those that its reader reads while it opens, and
/// those that it reads later, sample by sample. A reader of a plug-in that reads otherwise is known
/// by its artefacts. Throws: as `open_samples`, IoError.
[[nodiscard]] FileDigests sample_files(const DatasetManifest& manifest);

/// The same for samples that may not open: of the files `locked`, those that are there.
[[nodiscard]] FileDigests files_left(const DatasetManifest& manifest, const FileDigests& locked);

/// Files that the settings of scenarios and of preprocessing steps name: recorded arrivals,
/// functions of one's own.
[[nodiscard]] FileDigests named_files(const FixedEvaluation& evaluation);

}  // namespace d5::detail

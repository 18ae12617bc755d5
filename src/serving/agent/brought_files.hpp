// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "d5/core/interrupts/interrupt.hpp"

namespace d5::detail {

/// Fetches a file by its digest, piece by piece; false if there is none (`AgentSession::fetch`).
using FileSource = std::function<bool(const std::string& sha256,
                                      const std::function<void(std::string_view)>& hear)>;

/// Brings the files that an evaluation (`FixedEvaluation::canonical`) names and this machine lacks
/// into the store of artefacts: models' files, data sets and their samples. Files that the source
/// has not are left out: the evaluation says which it misses. `said` receives a line for each file.
/// `folder` is for unfinished files. Throws: FormatError for a file with another digest, or a data
/// set that names code or a place; IoError; Interrupted.
void bring_files(const std::string& evaluation, const std::string& folder, const FileSource& source,
                 const std::function<void(const std::string&)>& said, const Interrupt& interrupt);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "d5/core/interrupts/interrupt.hpp"

namespace d5::detail {

/// Handles one file of an archive: its name there, without folders, and its content.
using ArchiveVisit = std::function<void(const std::string& name, const std::string& content)>;

/// Reads the tar archive at `path`, compressed by gzip or not, and calls `visit` for each file that
/// `wanted` accepts, in the archive's order. Nothing is written to disk.
/// Throws: IoError; FormatError for a file that is not such an archive, a broken one, or a wanted
/// file above `most_bytes`; Interrupted.
void read_archive(const std::string& path, std::size_t most_bytes,
                  const std::function<bool(const std::string& name)>& wanted,
                  const ArchiveVisit& visit, const Interrupt& interrupt);

}  // namespace d5::detail

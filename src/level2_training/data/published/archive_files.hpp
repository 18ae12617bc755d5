// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "d5/core/interrupts/interrupt.hpp"

namespace d5::detail {

/// What to do with one file of an archive: its name in there, without folders, and its content.
using ArchiveVisit = std::function<void(const std::string& name, const std::string& content)>;

/// Goes through the tar archive at `path`, packed by gzip or not, and hands each file that `wanted`
/// says yes to, in the archive's order, to `visit`. Nothing is written anywhere.
/// Throws: IoError; FormatError for what is no such archive, a broken one, or a wanted file of more
/// than `most_bytes`; Interrupted.
void read_archive(const std::string& path, std::size_t most_bytes,
                  const std::function<bool(const std::string& name)>& wanted,
                  const ArchiveVisit& visit, const Interrupt& interrupt);

}  // namespace d5::detail

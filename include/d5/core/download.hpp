// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "d5/core/interrupt.hpp"

namespace d5 {

/// One file to fetch: where it may be had, and what it must be.
struct Download {
  std::vector<std::string> urls;  ///< tried in order: https, http or file
  std::string sha256;             ///< of the content; of the unpacked content if it is gzip
  std::size_t most_bytes = std::size_t{1} << 30;  ///< of the file, and of its unpacked content
};

/// Fetches a file to `path`. A file that is there already and has the checksum is left alone; any
/// other file, and a crash at any moment, leaves `path` as it was.
/// Throws: IoError with every address and its reason, a checksum that differs among them;
/// Interrupted.
void download(const Download& what, const std::string& path, const Interrupt& interrupt = {});

}  // namespace d5

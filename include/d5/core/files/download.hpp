// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"

namespace d5 {

/// One file to fetch: where it may be had, and what it must be.
struct Download {
  std::vector<std::string> urls;  ///< tried in order: https, http or file
  std::string sha256;
  enum class Sum {
    content,  ///< of what is packed, where it is gzip: the same however a mirror packs it
    file,     ///< of the file as it is
  } sum_of = Sum::content;
  std::size_t most_bytes = std::size_t{1} << 30;  ///< of the file, and of its unpacked content
};

/// Whether the file at `path` is what was asked for: empty, or what is wrong with it.
/// Throws: IoError, Interrupted.
[[nodiscard]] std::string fault_of(const std::string& path, const Download& what,
                                   const Interrupt& interrupt = {});

/// Fetches a file to `path`. A file that is there already and has the checksum is left alone; any
/// other file, and a crash at any moment, leaves `path` as it was. What came of a transfer that
/// broke off lies beside it, under a name with the checksum, and the next attempt goes on from
/// there: a few within a call, and those of later calls.
/// Throws: IoError with every address and its reason, a checksum that differs among them;
/// Interrupted.
void download(const Download& what, const std::string& path, const Interrupt& interrupt = {});

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"

namespace d5 {

/// A file to download: its addresses and its checksum.
struct Download {
  std::vector<std::string> urls;  ///< tried in order: https, http or file
  std::string sha256;
  enum class Sum {
    content,  ///< checksum of a gzip file's unpacked content: independent of a mirror's compression
    file,     ///< checksum of the file itself
  } sum_of = Sum::content;
  std::size_t most_bytes = std::size_t{1} << 30;  ///< limit of the file and of its unpacked content
};

/// The difference between the file at `path` and the expected one; empty if there is none.
/// Throws: IoError, Interrupted.
[[nodiscard]] std::string fault_of(const std::string& path, const Download& what,
                                   const Interrupt& interrupt = {});

/// Downloads a file to `path`, unless the file there has the checksum already. A wrong file or a
/// crash leaves `path` unchanged. An interrupted transfer is kept beside `path`, under a name with
/// the checksum, and resumed by the next attempt, in this call or a later one.
/// Throws: IoError with the reason for each address, such as a wrong checksum; Interrupted.
void download(const Download& what, const std::string& path, const Interrupt& interrupt = {});

}  // namespace d5

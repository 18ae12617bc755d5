// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "d5/core/interrupt.hpp"

namespace d5::detail {

/// How one transfer of a file ended.
struct Transfer {
  enum class End {
    whole,
    broke_off,     ///< what came is kept
    cannot_go_on,  ///< not from where the file ends, or not at all: it is too large
  } end;
  std::string reason;  ///< empty where it is whole
};

/// Appends to `path` what `url` (https, http or file) has from there on.
/// Throws: IoError where `path` cannot be written; Interrupted, which keeps what came.
[[nodiscard]] Transfer append_from(const std::string& url, const std::string& path,
                                   std::size_t most_bytes, const Interrupt& interrupt);

}  // namespace d5::detail

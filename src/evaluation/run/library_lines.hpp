// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/trace/timeline.hpp"

namespace d5::detail {

/// oneDNN's verbose lines of executed primitives, as spans of level "library": name, engine,
/// implementation and shapes. `clock_ns` is added to their times, which count from 1970. Other
/// lines are left out.
///
///     onednn_verbose,v1,1764158400123.5,primitive,exec,cpu,convolution,jit:avx2,...,mb1_ic3,0.25
[[nodiscard]] std::vector<TraceRecord> onednn_spans(std::string_view text, std::int64_t clock_ns);

/// Captures what this process's libraries print while it lives, instead of standard output. From
/// the first one on, oneDNN prints what it runs. Construct it before any library computes.
class LibraryLines {
 public:
  LibraryLines();
  ~LibraryLines();
  LibraryLines(const LibraryLines&) = delete;
  LibraryLines& operator=(const LibraryLines&) = delete;

  /// Adds to `timeline` the spans that were printed so far and ran within a span called "predict",
  /// as children of it.
  void add_to(Timeline& timeline) const;

 private:
  int file_ = -1, before_ = -1;
};

}  // namespace d5::detail

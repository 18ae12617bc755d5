// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"

namespace d5::detail {

/// Cost of a gradient compressor for a bucket. Units: s per byte of float32 gradient.
struct CompressorCost {
  double compress = 0;    ///< before sending; for casts also the work afterwards
  double decompress = 0;  ///< per rank's message; each rank decompresses all
  /// One of the sequential calls: kind of operation, and bytes given by a rank relative to the
  /// gradient's bytes.
  struct Call {
    std::string kind;
    double share = 0;
  };
  std::vector<Call> calls = {};
};

/// Measures a compressor of `gradient_compressors()`, its calls and processor time, on one and on
/// two simulated ranks, with 4 MB of real random numbers and error feedback. Throws: NotFound,
/// ValueError.
[[nodiscard]] CompressorCost probe_compressor(const EntryChoice& compressor);

}  // namespace d5::detail

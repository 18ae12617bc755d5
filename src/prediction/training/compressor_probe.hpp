// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"

namespace d5::detail {

/// What a gradient compressor does with a bucket. Units: s a byte of float32 gradient.
struct CompressorCost {
  double compress = 0;    ///< before anything is sent; of casts, what is done afterwards as well
  double decompress = 0;  ///< of one rank's message; each rank does it with all
  /// Of the calls, one after the other: a kind of operation, and what a rank hands in, over the
  /// gradient's bytes.
  struct Call {
    std::string kind;
    double share = 0;
  };
  std::vector<Call> calls = {};
};

/// Runs a compressor of `gradient_compressors()` on one and on two simulated ranks, on 4 MB of
/// random numbers that are really there, with what it leaves for later, and looks at its calls and
/// at the time of the processor. Throws: NotFound, ValueError.
[[nodiscard]] CompressorCost probe_compressor(const EntryChoice& compressor);

}  // namespace d5::detail

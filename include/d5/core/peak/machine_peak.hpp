// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/tensor/dtype.hpp"

namespace d5 {

/// The most that this machine does on as many threads as `threads()` says: the roof under which an
/// operator runs. All 0 where it was never measured.
///
/// Source: Williams, Waterman and Patterson, "Roofline: An Insightful Visual Performance Model for
/// Multicore Architectures" (2009); McCalpin, "Memory Bandwidth and Machine Balance in Current High
/// Performance Computers" (1995), for the triad.
struct MachinePeak {
  double float32_flop_rate = 0, float64_flop_rate = 0;  ///< of fused multiply-adds in registers
  double byte_rate = 0;  ///< of a[i] = b[i] + s * c[i] in memory beyond the caches

  /// Of what computes in `dtype`, small floats in float32; 0 for what is no float.
  [[nodiscard]] double flop_rate(DType dtype) const;
};

/// What `measure_machine_peak` found before on this machine with `threads()` threads. Kept in
/// $D5_CACHE_DIR, else $XDG_CACHE_HOME/d5, else ~/.cache/d5, one file for each processor model,
/// number of cores, and of threads.
[[nodiscard]] MachinePeak machine_peak();

/// Measures for a second or two, and keeps it. The highest of many short windows counts, and of
/// what was kept before: other work can only lower it. Throws: IoError if it cannot be kept.
MachinePeak measure_machine_peak();

}  // namespace d5

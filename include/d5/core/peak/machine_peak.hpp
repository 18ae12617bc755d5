// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/tensor/dtype.hpp"

namespace d5 {

/// Peak performance of this machine on `threads()` threads: the roofline's limits. All 0 if never
/// measured.
///
/// Source: Williams, Waterman and Patterson, "Roofline: An Insightful Visual Performance Model for
/// Multicore Architectures" (2009); McCalpin, "Memory Bandwidth and Machine Balance in Current High
/// Performance Computers" (1995), for the triad.
struct MachinePeak {
  double float32_flop_rate = 0, float64_flop_rate = 0;  ///< fused multiply-adds in registers
  double byte_rate = 0;  ///< triad a[i] = b[i] + s * c[i], on arrays larger than the caches

  /// The peak for computation in `dtype`, with small floats computed in float32; 0 for other types.
  [[nodiscard]] double flop_rate(DType dtype) const;
};

/// The last result of `measure_machine_peak` on this machine with `threads()` threads. Stored in
/// $D5_CACHE_DIR, else $XDG_CACHE_HOME/d5, else ~/.cache/d5, one file per processor model, number
/// of cores and number of threads.
[[nodiscard]] MachinePeak machine_peak();

/// Measures the peak in a second or two, and stores it. The result is the maximum over many short
/// windows and the stored value, because other work can only lower a measurement. Throws: IoError
/// if it cannot be stored.
MachinePeak measure_machine_peak();

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "core/measuring/share_of_peak.hpp"

#include <algorithm>

#include "d5/core/results/measurement.hpp"
#include "d5/core/statistics/statistics.hpp"

namespace d5::detail {

ShareOfPeak::ShareOfPeak(const Work& work, const MachinePeak& peak)
    : compute_seconds_(work.flop > 0 ? work.flop / peak.flop_rate(work.dtype) : 0),
      memory_seconds_(work.bytes / peak.byte_rate),
      least_seconds_(std::max(compute_seconds_, memory_seconds_)) {}

bool ShareOfPeak::is_known(const Work& work, const MachinePeak& peak) {
  const bool compute_is_known = work.flop == 0 || peak.flop_rate(work.dtype) > 0;
  return work.bytes > 0 && peak.byte_rate > 0 && compute_is_known;
}

void ShareOfPeak::summarise(Measurement& result) const {
  result.samples = samples_;
  const bool computes = compute_seconds_ > memory_seconds_;
  result.conditions["bound"] = finding(computes ? "compute" : "memory");
  constexpr double kNoise = 1.05;
  if (!computes || samples_.empty() || d5::summarise(samples_).median < kNoise) return;
  mistrust(
      result,
      "it is above the peak, which was measured while other work ran ('d5 env --peak' measures "
      "again), or less was computed than the definition says (Winograd's algorithm)");
}

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#include "core/share_of_peak.hpp"

#include <algorithm>

#include "d5/core/measurement.hpp"

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
  result.conditions["bound"] = compute_seconds_ > memory_seconds_ ? "compute" : "memory";
}

}  // namespace d5::detail

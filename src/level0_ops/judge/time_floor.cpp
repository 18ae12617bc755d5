// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/judge/time_floor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/machine/machine.hpp"
#include "d5/core/results/results.hpp"

namespace d5::detail {
namespace {

/// The type of the first floating-point input, else float32's rates.
DType floor_type(const FreshCase& fresh) {
  for (const ValueDesc& input : fresh.read()) {
    if (input.is_tensor() && is_floating_point(input.tensor.dtype)) return input.tensor.dtype;
  }
  return DType::float32;
}

}  // namespace

void judge_floor(Measurement& record, const FreshCase& fresh, const MachinePeak& peak) {
  // Share of the definition's work that the thriftiest known algorithm does: Winograd's
  // F(6x6, 3x3) multiplies 5.06 times less (Lavin and Gray, "Fast Algorithms for Convolutional
  // Neural Networks", 2016). Strassen's saves an eighth a level.
  constexpr double kLeastWork = 0.19;
  const double flop_rate = peak.flop_rate(floor_type(fresh));
  if (flop_rate <= 0 || peak.byte_rate <= 0) {
    record.conditions["floor"] = finding("unknown: 'd5 env --peak' measures it");
    return;
  }
  const bool leaves_caches = fresh.bytes() > machine().l3_bytes + machine().l2_bytes;
  const double floor = std::max(kLeastWork * fresh.flop() / flop_rate,
                                leaves_caches ? fresh.bytes() / peak.byte_rate : 0.0);
  record.conditions["floor"] = finding(floor, "s");
  if (record.samples.empty() || record.status != Status::passed) return;
  const double fastest = *std::ranges::min_element(record.samples);
  if (fastest >= floor) return;
  record.status = Status::failed;
  record.conditions["fault"] = finding("impossible");
  record.reason = fmt::format("impossible: a call took {}, and the machine needs {} at its peak",
                              with_prefix(fastest, "s"), with_prefix(floor, "s"));
}

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/peak/machine_peak.hpp"
#include "d5/core/results/measurement.hpp"
#include "level0_ops/judge/fresh_case.hpp"

namespace d5::detail {

/// Fails a time below the floor of this machine: the work of the operator's definition at the peak
/// rate, or, for tensors larger than the caches, their bytes at the peak bandwidth. Without a known
/// peak ('d5 env --peak') the condition "floor" says so.
void judge_floor(Measurement& record, const FreshCase& fresh, const MachinePeak& peak);

}  // namespace d5::detail

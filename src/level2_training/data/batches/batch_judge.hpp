// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "d5/core/measuring/measure.hpp"
#include "d5/level2_training/data/sampler.hpp"

namespace d5::detail {

/// Whether every sample of `batch` is to the bit what `dataset` gives when it is asked for that one
/// alone, by one thread, with the draws of `seed`. What pads a smaller sample is not looked at.
/// Unknown where the sampler does not say which samples it gave.
[[nodiscard]] Verdict judge_batch(const Batch& batch, const Dataset& dataset, std::uint64_t seed);

}  // namespace d5::detail

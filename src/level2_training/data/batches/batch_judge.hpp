// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "d5/core/measuring/measure.hpp"
#include "d5/level2_training/data/sampler.hpp"

namespace d5::detail {

/// Whether every sample of `batch` is bitwise what `dataset` returns for it alone, on one thread,
/// with the draws of `seed`. Padding is ignored. Unknown if the sampler does not give the samples'
/// indices.
[[nodiscard]] Verdict judge_batch(const Batch& batch, const Dataset& dataset, std::uint64_t seed);

}  // namespace d5::detail

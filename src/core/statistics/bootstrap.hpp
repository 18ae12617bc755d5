// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "d5/core/statistics/statistics.hpp"

namespace d5::detail {

/// The 95% percentile interval of `statistic` over a thousand resamples with replacement, the same
/// in every call. `statistic` gets the indices of the drawn samples.
/// Source: Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13.
[[nodiscard]] Interval bootstrap_interval(
    std::size_t samples, const std::function<double(std::span<const std::size_t>)>& statistic);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "d5/core/results/measurement.hpp"

namespace d5::detail {

/// Where 95% of `statistic` lie if as many samples are drawn again with repetition, a thousand
/// times, always the same: the percentile interval. It is given the drawn samples' numbers.
/// Source: Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13.
[[nodiscard]] Interval bootstrap_interval(
    std::size_t samples, const std::function<double(std::span<const std::size_t>)>& statistic);

/// A record of an accuracy that is one number of all samples, with its bootstrap interval.
[[nodiscard]] Measurement accuracy_record(
    const std::string& metric, std::size_t samples,
    const std::function<double(std::span<const std::size_t>)>& statistic);

}  // namespace d5::detail

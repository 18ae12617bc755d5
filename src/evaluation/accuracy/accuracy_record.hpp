// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "d5/core/results/measurement.hpp"

namespace d5::detail {

/// What records of all measures have in common; statistic and samples are their own.
[[nodiscard]] Measurement accuracy_record(const std::string& metric);

/// A record of an accuracy that is one number of all samples, with its bootstrap interval.
/// `statistic` gets the indices of the drawn samples.
[[nodiscard]] Measurement accuracy_record(
    const std::string& metric, std::size_t samples,
    const std::function<double(std::span<const std::size_t>)>& statistic);

}  // namespace d5::detail

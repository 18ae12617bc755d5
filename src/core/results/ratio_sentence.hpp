// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/results/measurement.hpp"
#include "d5/core/results/ratio_summary.hpp"

namespace d5::detail {

/// A sentence about `ratios`, the times of `second` divided by those of `first`, without a full
/// stop:
///
///     A is 1.27 [1.24, 1.31] times as fast as B
///
///     A and B are equally fast within 5%: the ratio of their times is 1.01 [0.97, 1.05]
///
///     A or B may be faster: the ratio of their times is 2.5 [0.944, 14.5]
///
///     A is 1.3 [1.1, 1.5] times as fast as B (geometric mean of 12 cases)
///
///     A is faster than B in 2 of 3 cases and slower in 0
///
/// The faster one comes first. A ratio without an interval is undecided. Fewer cases than
/// `kFewestForMeanInterval` are only counted. `noun` is the ratios' quantity. Mistrusted ratios are
/// marked as such. Empty without ratios.
[[nodiscard]] std::string ratio_sentence(const std::string& first, const std::string& second,
                                         std::span<const JudgedRatio> ratios,
                                         std::string_view noun = "cases");

/// Sentences about the interleaved records "time_ratio": one per pass and device, about the fastest
/// and its base. Empty if nothing was compared.
[[nodiscard]] std::vector<std::string> ratio_sentences(
    const std::vector<Measurement>& measurements);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/results/measurement.hpp"
#include "d5/core/results/ratio_summary.hpp"

namespace d5::detail {

/// What `ratios`, times of `second` over those of `first`, say, without the end of a sentence:
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
/// The faster of both comes first. A ratio without an interval decides nothing; fewer cases than
/// `kFewestForMeanInterval` are counted. `noun`: what the ratios are of. Mistrusted ones are said
/// to be so. Empty for no ratio.
[[nodiscard]] std::string ratio_sentence(const std::string& first, const std::string& second,
                                         std::span<const JudgedRatio> ratios,
                                         std::string_view noun = "cases");

/// What the records "time_ratio", which were measured interleaved, say: a line each pass and
/// device, about the fastest and its base. Empty where nothing was compared.
[[nodiscard]] std::vector<std::string> ratio_sentences(
    const std::vector<Measurement>& measurements);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "d5/core/measurement.hpp"

namespace d5 {

/// Two that were compared, and the time of the second over that of the first.
struct ComparedTimes {
  std::string first, second;
  Estimate ratio{};
};

/// What a ratio says, without the end of a sentence:
///
///     torch is 1.27 [1.24, 1.31] times as fast as onnxruntime
///     torch and onnxruntime are equally fast as far as this tells: time ratio 1.01 [0.97, 1.05]
///
/// The faster of both comes first. A ratio without an interval decides nothing.
[[nodiscard]] std::string ratio_sentence(const ComparedTimes& times);

/// What the records "time_ratio", which were measured interleaved, say: a line each pass and
/// device, about the fastest and its base; of several cases the geometric mean. Empty where nothing
/// was compared. A mistrusted ratio is said to be so.
[[nodiscard]] std::vector<std::string> ratio_sentences(
    const std::vector<Measurement>& measurements);

}  // namespace d5

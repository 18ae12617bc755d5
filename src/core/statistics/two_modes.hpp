// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

namespace d5::detail {

/// Samples of two ways in which one thing went.
struct TwoModes {
  double lower, upper;  ///< medians
  double upper_share;   ///< of the samples
};

/// The two modes of positive `samples`; nothing where they have one. Between two modes is a gap of
/// a fifth, twice as wide as one of them, with a fifth of the samples or more on each side. The
/// same of times and of the rates that follow from them.
[[nodiscard]] std::optional<TwoModes> two_modes(std::span<const double> samples);

}  // namespace d5::detail

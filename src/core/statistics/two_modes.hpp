// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

namespace d5::detail {

/// Two modes of a bimodal distribution of samples.
struct TwoModes {
  double lower, upper;  ///< medians
  double upper_share;   ///< share of the samples in the upper mode
};

/// The two modes of positive `samples`; nothing if they are unimodal. The gap between modes is at
/// least a fifth, and twice as wide as one of them, with at least a fifth of the samples on each
/// side. Invariant under the inversion from times to rates.
[[nodiscard]] std::optional<TwoModes> two_modes(std::span<const double> samples);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "d5/level1_network/source/network_inputs.hpp"

namespace d5 {

/// A way of drawing values. The first is the usual one; the others are for networks whose outputs
/// are not evidence in the usual way (NaN, a constant).
struct InputDrawing {
  /// Booleans are true, and integers 1 if they are masks or unconstrained; indices and lengths stay
  /// within their ranges.
  bool masks_of_ones = false;
  bool longer = false;  ///< unrequested open lengths of 1 become 8, or 2 and more
  /// Interval of real numbers; both 0: normal distribution.
  double least = 0, most = 0;
};

/// Drawings in the order in which they are tried.
inline constexpr InputDrawing kInputDrawings[] = {
    {},
    {.masks_of_ones = true},
    {.masks_of_ones = true, .longer = true},
    {.masks_of_ones = true, .longer = true, .least = 0, .most = 1},    // Log, Sqrt, Asin, Atanh
    {.masks_of_ones = true, .longer = true, .least = 1, .most = 2},    // Acosh, divisors
    {.masks_of_ones = true, .longer = true, .least = 0, .most = 256},  // pixels
};

/// Draws the made part of `usual` in one of these ways; `asked` are sizes that stay. Empty if
/// nothing would change.
[[nodiscard]] std::optional<NetworkInputs> drawn_otherwise(const Network& network,
                                                           const NetworkInputs& usual,
                                                           const OpenSizes& asked,
                                                           std::uint64_t seed, std::size_t drawing);

/// Number of outputs that are not evidence on such values. Throws: Error if the network rejects
/// them.
using SayNothing = std::function<std::size_t(const ValueMap& inputs)>;

/// Returns `usual` if all outputs are evidence on it; otherwise the first way with this property,
/// or the way in which most outputs are evidence. Given values stay.
[[nodiscard]] NetworkInputs inputs_that_tell(const Network& network, const NetworkInputs& usual,
                                             const OpenSizes& asked, std::uint64_t seed,
                                             const SayNothing& say_nothing);

}  // namespace d5

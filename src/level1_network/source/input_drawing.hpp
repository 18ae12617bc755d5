// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "d5/level1_network/source/network_inputs.hpp"

namespace d5 {

/// How values are drawn. The first way is the usual one; the others are for networks whose answers
/// on it say nothing (NaN, a constant).
struct InputDrawing {
  /// Truths are true, and whole numbers 1 that are masks, or that nothing says more of; indices and
  /// lengths stay within their ranges.
  bool masks_of_ones = false;
  bool longer =
      false;  ///< open lengths that are 1, and that nobody asked for, are 8, or 2 and more
  /// Real numbers lie between these; both 0: they are normal.
  double least = 0, most = 0;
};

/// In the order in which they are tried.
inline constexpr InputDrawing kInputDrawings[] = {
    {},
    {.masks_of_ones = true},
    {.masks_of_ones = true, .longer = true},
    {.masks_of_ones = true, .longer = true, .least = 0, .most = 1},    // Log, Sqrt, Asin, Atanh
    {.masks_of_ones = true, .longer = true, .least = 1, .most = 2},    // Acosh, divisors
    {.masks_of_ones = true, .longer = true, .least = 0, .most = 256},  // pixels
};

/// What is made of `usual`, drawn in one of these ways; `asked` are sizes that stay. Nothing where
/// all would be as it is.
[[nodiscard]] std::optional<NetworkInputs> drawn_otherwise(const Network& network,
                                                           const NetworkInputs& usual,
                                                           const OpenSizes& asked,
                                                           std::uint64_t seed, std::size_t drawing);

/// How many outputs say nothing on such values. Throws: Error where the network cannot take them.
using SayNothing = std::function<std::size_t(const ValueMap& inputs)>;

/// `usual`, or where outputs say nothing on it what is drawn in the first way in which all say
/// something, otherwise in the one in which most do. What was given stays.
[[nodiscard]] NetworkInputs inputs_that_tell(const Network& network, const NetworkInputs& usual,
                                             const OpenSizes& asked, std::uint64_t seed,
                                             const SayNothing& say_nothing);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "level0_ops/operator/composed_operator.hpp"

namespace d5::detail {

/// Position of an image's channels: after the sample (N x C x ...), or last (N x ... x C).
enum class ChannelOrder : std::uint8_t { first, last };

/// `x` with its channels moved from the other position to `to`.
/// Throws: ShapeError for less than two dimensions.
[[nodiscard]] Term channels_moved(Composition& c, Term x, ChannelOrder to);

}  // namespace d5::detail

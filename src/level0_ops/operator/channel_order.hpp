// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "level0_ops/operator/composed_operator.hpp"

namespace d5::detail {

/// Where an image's channels stand: behind its sample (N x C x ...), or at the end (N x ... x C).
enum class ChannelOrder : std::uint8_t { first, last };

/// `x`, whose channels stand at the other place, with those at `to`.
/// Throws: ShapeError for less than two dimensions.
[[nodiscard]] Term channels_moved(Composition& c, Term x, ChannelOrder to);

}  // namespace d5::detail

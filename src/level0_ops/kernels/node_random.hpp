// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

#include "d5/core/tensor/random.hpp"
#include "d5/level0_ops/operator/op_context.hpp"

namespace d5::detail {

/// The numbers that a node with the attribute `seed` draws: the executor's, of this node and run,
/// except in inference mode with a seed: then they are the seed's, the same in every run.
[[nodiscard]] inline RandomStream node_random(const OpContext& context, std::optional<float> seed) {
  // Asked for in any case: an executor that folds constants refuses here.
  const RandomStream random = context.services().random();
  const bool seeded = seed && !std::isnan(*seed) && context.mode() == Mode::inference;
  return seeded ? RandomStream(std::bit_cast<std::uint32_t>(*seed)) : random;
}

}  // namespace d5::detail

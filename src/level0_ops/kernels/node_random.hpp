// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

#include "d5/core/tensor/random.hpp"
#include "d5/level0_ops/operator/op_context.hpp"

namespace d5::detail {

/// The random stream of a node with the attribute `seed`: the executor's for this node and run; in
/// inference mode with a seed, the seed's, equal in every run.
[[nodiscard]] inline RandomStream node_random(const OpContext& context, std::optional<float> seed) {
  // Requested in any case, because an executor that folds constants refuses here.
  const RandomStream random = context.services().random();
  const bool seeded = seed && !std::isnan(*seed) && context.mode() == Mode::inference;
  return seeded ? RandomStream(std::bit_cast<std::uint32_t>(*seed)) : random;
}

}  // namespace d5::detail

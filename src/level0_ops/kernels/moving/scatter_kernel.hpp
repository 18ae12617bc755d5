// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "d5/level0_ops/operator/kernel.hpp"
#include "level0_ops/kernels/moving/indexed_places.hpp"

namespace d5::detail {

/// Reduction of an element of the data with a scattered update.
enum class ScatterReduction { none, add, mul, max, min };

/// Max and min exist since opset 18. Throws: ValueError for an unknown word.
[[nodiscard]] ScatterReduction scatter_reduction(std::string_view word, const onnx::Node& node);

/// Plans a kernel that copies input 0 and scatters input 2 to it, in order. Input 1 has the
/// indices.
[[nodiscard]] std::unique_ptr<Kernel> plan_scatter(PlanContext& context, IndexedPlaces indexed,
                                                   ScatterReduction reduction);

}  // namespace d5::detail

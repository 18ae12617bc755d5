// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "d5/level0_ops/operator/plan_context.hpp"
#include "level0_ops/kernels/attention/attention_mask.hpp"

namespace d5::detail {

/// What the optional output shows of the scores: how they are after which step.
enum class ScoreStage { scaled, capped, masked, softmax };

/// What of an attention's node does not depend on shapes.
struct AttentionRules {
  double scale = 1;
  double softcap = 0;  ///< c: scores s become c tanh(s / c); 0: they stay
  AttentionWindow window = {};
  ScoreStage shown = ScoreStage::scaled;
  DType softmax = DType::float32;  ///< one of `FloatTypes`
};

/// Of the attribute `softmax_precision`. Throws: ValueError for what is none of `FloatTypes`.
[[nodiscard]] DType softmax_type(std::int64_t precision, std::string_view who);

/// Y = softmax(cap(scale Q K^T) + mask) V, computed in `arithmetic`, float32 or float64. Inputs and
/// outputs have the places that operator Attention has; the later ones may be missing.
///
/// Source: Vaswani et al., "Attention Is All You Need" (2017).
[[nodiscard]] std::unique_ptr<Kernel> attention_kernel(const AttentionSizes& sizes,
                                                       const AttentionRules& rules,
                                                       DType arithmetic, PlanContext& context);

}  // namespace d5::detail

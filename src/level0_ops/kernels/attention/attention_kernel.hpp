// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "d5/level0_ops/operator/plan_context.hpp"
#include "level0_ops/kernels/attention/attention_mask.hpp"

namespace d5::detail {

/// The stage of the scores in the optional output.
enum class ScoreStage { scaled, capped, masked, softmax };

/// Parameters of attention that do not depend on shapes.
struct AttentionRules {
  double scale = 1;
  double softcap = 0;  ///< c: scores s become c tanh(s / c); 0: no cap
  AttentionWindow window = {};
  ScoreStage shown = ScoreStage::scaled;
  DType softmax = DType::float32;  ///< one of `FloatTypes`
};

/// The type in the attribute `softmax_precision`. Throws: ValueError for types outside
/// `FloatTypes`.
[[nodiscard]] DType softmax_type(std::int64_t precision, std::string_view who);

/// Y = softmax(cap(scale Q K^T) + mask) V, computed in `arithmetic`, float32 or float64. Inputs and
/// outputs have the indices of operator Attention; the later ones may be missing.
///
/// Source: Vaswani et al., "Attention Is All You Need" (2017).
[[nodiscard]] std::unique_ptr<Kernel> attention_kernel(const AttentionSizes& sizes,
                                                       const AttentionRules& rules,
                                                       DType arithmetic, PlanContext& context);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level0_ops/operator/plan_context.hpp"
#include "pass.hpp"

namespace d5::onednn {

/// The activation that a node applies to its product: FusedConv and FusedGemm of com.microsoft name
/// one, Conv and Gemm have none.
class FusedActivation {
 public:
  /// Throws: Unsupported for an activation that oneDNN lacks.
  explicit FusedActivation(const PlanContext& context);

  void append_to(dnnl::post_ops& post_ops) const;
  /// Gradient of the activation's input, from the node's output and its gradient; `dy` itself
  /// without an activation.
  [[nodiscard]] Argument differentiate(Pass& backward, const Argument& y, const Argument& dy) const;
  /// Values that `differentiate` reads.
  [[nodiscard]] Places reads() const { return is_none() ? Places{} : Places{0}; }

 private:
  [[nodiscard]] bool is_none() const { return forward_ == dnnl::algorithm::undef; }

  dnnl::algorithm forward_ = dnnl::algorithm::undef;
  dnnl::algorithm backward_ = dnnl::algorithm::undef;  ///< the same, with the slope computed from
                                                       ///< the output
  float alpha_ = 0, beta_ = 0;
};

}  // namespace d5::onednn

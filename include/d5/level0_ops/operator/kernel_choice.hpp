// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "d5/level0_ops/operator/operator_registry.hpp"

namespace d5 {

/// A kernel, and what it asked for while it was planned.
struct PlannedKernel {
  std::unique_ptr<Kernel> kernel;               ///< null: nobody could
  const OperatorRegistry* framework = nullptr;  ///< whose kernel it is
  std::size_t scratch_bytes = 0;
  std::vector<TensorDesc> saved = {};
  Places accepted_layouts = {};
  std::vector<std::shared_ptr<const Arrangement>> wanted_layouts = {};  ///< of inputs; null: none
  std::vector<std::shared_ptr<const Arrangement>> arrangements = {};    ///< of outputs; null: dense
};

/// The kernel of the first of `frameworks` that supports the node as `context` describes it and can
/// plan it. Where none does, why each could not is added to `reasons`.
[[nodiscard]] PlannedKernel first_kernel(const PlanContext& context,
                                         std::span<const OperatorRegistry* const> frameworks,
                                         std::string& reasons);
/// Throws: Unsupported with the reason of each.
[[nodiscard]] PlannedKernel first_kernel(const PlanContext& context,
                                         std::span<const OperatorRegistry* const> frameworks);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "d5/level0_ops/operator/operator_registry.hpp"

namespace d5 {

/// A kernel, and its requests while it was planned.
struct PlannedKernel {
  std::unique_ptr<Kernel> kernel;               ///< null: no framework could plan it
  const OperatorRegistry* framework = nullptr;  ///< owner of the kernel
  std::size_t scratch_bytes = 0;
  std::vector<TensorDesc> saved = {};
  Places accepted_layouts = {};
  std::vector<std::shared_ptr<const Arrangement>> wanted_layouts = {};  ///< per input; null: none
  std::vector<std::shared_ptr<const Arrangement>> arrangements = {};    ///< per output; null: dense
};

/// The kernel of the first of `frameworks` that supports the node in `context` and can plan it.
/// Otherwise null, with each framework's reason appended to `reasons`.
[[nodiscard]] PlannedKernel first_kernel(const PlanContext& context,
                                         std::span<const OperatorRegistry* const> frameworks,
                                         std::string& reasons);
/// As above. Throws: Unsupported with the reason of each framework.
[[nodiscard]] PlannedKernel first_kernel(const PlanContext& context,
                                         std::span<const OperatorRegistry* const> frameworks);

}  // namespace d5

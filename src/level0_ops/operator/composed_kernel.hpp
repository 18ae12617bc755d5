// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/level0_ops/operator/plan_context.hpp"
#include "level0_ops/operator/composed_operator.hpp"

namespace d5::detail {

/// Runs the kernels of the composition's steps. Throws: Unsupported where the size of what lies
/// between them is not known.
[[nodiscard]] std::unique_ptr<Kernel> composed_kernel(PlanContext& context,
                                                      const Composition& composition);

}  // namespace d5::detail

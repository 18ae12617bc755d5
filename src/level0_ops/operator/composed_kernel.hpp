// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/level0_ops/operator/plan_context.hpp"
#include "level0_ops/operator/composed_operator.hpp"

namespace d5::detail {

/// A kernel that runs the kernels of the composition's steps. Throws: Unsupported if the size of an
/// intermediate value is unknown.
[[nodiscard]] std::unique_ptr<Kernel> composed_kernel(PlanContext& context,
                                                      const Composition& composition);

}  // namespace d5::detail

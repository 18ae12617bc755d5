// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "d5/level0_ops/operator/plan_context.hpp"

namespace d5::detail {

/// The element type in which an operator computes that has kernels for float and double alone: that
/// of its inputs if they have one, double if some are, else float.
[[nodiscard]] DType wide_dtype(const PlanContext& context);
/// Whether no input or output has to become of `wide_dtype`.
[[nodiscard]] bool is_wide(const PlanContext& context);

using PlanKernel = std::function<std::unique_ptr<Kernel>(PlanContext&)>;

/// A kernel that widens its inputs as a whole into scratch memory, has the kernel that `make` plans
/// for wide values run, and rounds each output once; backward it does the same with gradients.
[[nodiscard]] std::unique_ptr<Kernel> widening_kernel(PlanContext& context, const PlanKernel& make);

/// What `make` plans; where that is Unsupported for a gradient among smaller floats, the widening
/// kernel of it.
[[nodiscard]] std::unique_ptr<Kernel> plan_with_gradient(PlanContext& context,
                                                         const PlanKernel& make);

/// The kernel for float or double that `make.operator()<T>(context)` makes, also for smaller floats
/// and for floats of several types, which are widened for it.
///
///     return wide_kernel_for(context, [&]<class T>(PlanContext& wide) {
///       return std::make_unique<LrnKernel<T>>(attributes_, wide.shape(0));
///     });
template <class Make>
[[nodiscard]] std::unique_ptr<Kernel> wide_kernel_for(PlanContext& context, const Make& make) {
  const auto make_wide = [&make](PlanContext& wide) {
    return kernel_for(RealTypes{}, wide_dtype(wide), wide,
                      [&]<class T>() { return make.template operator()<T>(wide); });
  };
  return is_wide(context) ? make_wide(context) : widening_kernel(context, make_wide);
}

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "d5/level0_ops/operator/plan_context.hpp"

namespace d5::detail {

/// The computing type of an operator with kernels for float and double only: double if any input is
/// double, else float.
[[nodiscard]] DType wide_dtype(const PlanContext& context);
/// Whether no input or output needs conversion to `wide_dtype`.
[[nodiscard]] bool is_wide(const PlanContext& context);

using PlanKernel = std::function<std::unique_ptr<Kernel>(PlanContext&)>;

/// A kernel that widens its inputs to scratch memory, runs the kernel that `make` plans for wide
/// values, and rounds each output once; backward treats gradients in the same way.
[[nodiscard]] std::unique_ptr<Kernel> widening_kernel(PlanContext& context, const PlanKernel& make);

/// The kernel that `make` plans; if that is Unsupported for a gradient of smaller floats, its
/// widening kernel.
[[nodiscard]] std::unique_ptr<Kernel> plan_with_gradient(PlanContext& context,
                                                         const PlanKernel& make);

/// The kernel that `make.operator()<T>(context)` makes for float or double, with inputs of smaller
/// or mixed floats widened.
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

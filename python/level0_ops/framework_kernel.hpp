// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "bindings.hpp"
#include "d5/level0_ops/operator/plan_context.hpp"

namespace d5::python {

/// The kernel that the Python function `plan` makes for a node of the framework of that name: an
/// object with `forward(inputs)` and, if gradients are needed, `backward(inputs, outputs,
/// output_gradients)`. Inputs are d5's memory. Results are copied into it, unless they are there
/// already. Throws: what Python raises, as d5's error; Unsupported for a kernel without `backward`.
[[nodiscard]] std::unique_ptr<Kernel> plan_kernel(const std::string& framework,
                                                  const PythonReference& plan,
                                                  const PlanContext& context);

}  // namespace d5::python

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/typing.h>

#include <cstdint>
#include <vector>

#include "bindings.hpp"
#include "d5/level0_ops/operator/plan_context.hpp"

namespace d5::python {

/// What a PlanContext says, for Python, which may keep it.
struct PlannedNode {
  explicit PlannedNode(const PlanContext& context);

  onnx::Node node;
  std::vector<ValueDesc> inputs;   ///< a left-out one has kind none
  std::vector<ValueDesc> outputs;  ///< as many as the node has
  std::vector<Value> constants;    ///< kind none where the value is not known
  Places gradients;                ///< inputs whose gradients are wanted
  Mode mode = Mode::inference;
};

using Dims = py::typing::Tuple<std::int64_t, py::ellipsis>;
[[nodiscard]] Dims dims_of(const TensorDesc& desc);

}  // namespace d5::python

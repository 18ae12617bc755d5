// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/typing.h>

#include <cstdint>
#include <vector>

#include "bindings.hpp"
#include "d5/level0_ops/operator/plan_context.hpp"

namespace d5::python {

/// The contents of a PlanContext, which Python may keep.
struct PlannedNode {
  explicit PlannedNode(const PlanContext& context);

  onnx::Node node;
  std::vector<ValueDesc> inputs;   ///< kind none for an input that is left out
  std::vector<ValueDesc> outputs;  ///< as many as the node has
  std::vector<Value> constants;    ///< kind none if the value is not known
  Places gradients;                ///< inputs that need gradients
  Mode mode = Mode::inference;
};

using Dims = py::typing::Tuple<std::int64_t, py::ellipsis>;
[[nodiscard]] Dims dims_of(const TensorDesc& desc);

}  // namespace d5::python

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/onnx/model.hpp"

namespace d5::detail {

/// Declares the types of outputs that depend on operators unknown to ONNX, by the operators' own
/// rules: a file must declare them, and ONNX's rules cannot infer them. If inputs leave sizes open,
/// all sizes of outputs are open; outputs that depend on data stay undeclared.
void declare_custom_outputs(onnx::Graph& graph);

}  // namespace d5::detail

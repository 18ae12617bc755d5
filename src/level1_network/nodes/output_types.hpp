// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/onnx/model.hpp"

namespace d5::detail {

/// Declares the types of those outputs that depend on operators which ONNX does not have, by the
/// operators' own rules. A file must declare them, and ONNX's rules cannot tell. Where inputs leave
/// sizes open, all sizes of outputs are; where they depend on data, the outputs stay undeclared.
void declare_custom_outputs(onnx::Graph& graph);

}  // namespace d5::detail

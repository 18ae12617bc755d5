// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/onnx/model.hpp"

namespace d5::detail {

/// Makes a framework's own function a custom operator, if one has that of the node. Returns whether
/// one has.
bool adopt_native_operator(const onnx::Node& node);

}  // namespace d5::detail

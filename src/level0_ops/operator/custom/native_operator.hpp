// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/onnx/model.hpp"

namespace d5::detail {

/// Adds a framework's own function for the node as a custom operator. Returns whether one was
/// found.
bool adopt_native_operator(const onnx::Node& node);

}  // namespace d5::detail

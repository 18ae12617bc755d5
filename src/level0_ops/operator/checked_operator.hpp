// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/level0_ops/operator/operator_registry.hpp"

namespace d5::detail {

/// What `make` makes of `node`, held to ONNX's schema, if there is one: the node's inputs, outputs
/// and attributes now, the types of its inputs whenever it infers.
/// Throws: ShapeError, NotFound, what `make` throws.
[[nodiscard]] std::unique_ptr<Operator> make_checked(const OperatorRegistry::Make& make,
                                                     const onnx::Node& node);

}  // namespace d5::detail

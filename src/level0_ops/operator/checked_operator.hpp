// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/level0_ops/operator/operator_registry.hpp"

namespace d5::detail {

/// The operator that `make` makes for `node`, checked against ONNX's schema, if there is one:
/// inputs, outputs and attributes of the node now, the types of its inputs in every `infer`.
/// Throws: ShapeError, NotFound, what `make` throws.
[[nodiscard]] std::unique_ptr<Operator> make_checked(const OperatorRegistry::Make& make,
                                                     const onnx::Node& node);

}  // namespace d5::detail

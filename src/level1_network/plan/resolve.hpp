// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/plan/draft.hpp"

namespace d5 {

/// First phase of compiling: resolves the operator of each node, the types and shapes of its
/// outputs, and constant values. The remaining nodes become steps.
/// Throws: Unsupported for an unknown operator, NotFound, what `Operator::infer` throws.
void resolve(Draft& draft);

// Its parts, for callers that need only these. Defines the inputs and initializers.
void define_sources(Draft& draft);
/// Adds a node whose inputs are all defined.
void resolve_node(Draft& draft, const onnx::Node& node);

}  // namespace d5

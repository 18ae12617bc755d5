// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/plan/draft.hpp"

namespace d5 {

/// The first phase: what each node means, the types and shapes of what it writes, and the values of
/// what is constant; nodes that are left become steps.
/// Throws: Unsupported for a node that nobody knows, NotFound, what `Operator::infer` throws.
void resolve(Draft& draft);

// Its parts, for who wants to know no more than this.
/// What is fed, and the initializers.
void define_sources(Draft& draft);
/// A node that reads only what is defined.
void resolve_node(Draft& draft, const onnx::Node& node);

}  // namespace d5

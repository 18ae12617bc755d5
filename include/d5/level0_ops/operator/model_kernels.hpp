// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "d5/level0_ops/operator/compiled_model.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"

namespace d5 {

/// Why a framework takes or gives no values of a type, "int4"; empty if it does.
using ValueRefusal = std::function<std::string(const ValueDesc&)>;

/// Gives a framework that compiles whole models a kernel for every operator whose meaning the
/// reference knows: it compiles the node as a model of that node alone. Inputs that decide shapes
/// are constants of the model, the others its inputs. What the framework cannot compile, planning
/// refuses with its reason. There is no training, no random numbers, whose seed is d5's, and no
/// node whose graphs read values from outside.
void add_model_kernels(OperatorRegistry& registry, ModelCompiler compile, ValueRefusal refusal);

}  // namespace d5

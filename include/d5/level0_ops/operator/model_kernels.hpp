// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "d5/level0_ops/operator/compiled_model.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"

namespace d5 {

/// The reason why a framework does not support values of a type, such as int4; empty if it does.
using ValueRefusal = std::function<std::string(const ValueDesc&)>;

/// Adds kernels to a framework that compiles whole models, for every operator that the reference
/// defines. Each kernel compiles a model of its node alone. Inputs that determine shapes are
/// constants of that model, the others its inputs. Planning throws the framework's reason if it
/// cannot compile the model. Unsupported are training, random operators, because d5 sets their
/// seed, and nodes whose graphs capture outer values.
void add_model_kernels(OperatorRegistry& registry, ModelCompiler compile, ValueRefusal refusal);

}  // namespace d5

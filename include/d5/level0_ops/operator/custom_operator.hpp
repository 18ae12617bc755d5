// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "d5/level0_ops/operator/operator_registry.hpp"

namespace d5 {

/// Custom operators of users. Every framework's registry falls back to them, and runs them with
/// their own kernels. Use the functions below to add operators.
[[nodiscard]] OperatorRegistry& custom_operators();

/// Action for an existing operator of the same domain, name and version.
enum class IfTaken {
  refuse,
  replace,  ///< affects later plans only
};

/// Adds an operator. Throws: ValueError if it exists, also for overlapping versions.
void add_custom_operator(const std::string& name, const OperatorVersions& versions,
                         OperatorRegistry::Make make, IfTaken if_taken = IfTaken::refuse);

/// Loads operators written against `d5/abi.h` from a shared library, and adds them. Returns their
/// names, "example.LogCosh". The library stays loaded.
/// Throws: IoError; Unsupported for another kind of library or another ABI version; ValueError if
/// an operator exists.
std::vector<std::string> load_custom_operators(const std::string& library_path,
                                               IfTaken if_taken = IfTaken::refuse);

/// Finds a framework's own function for a node's domain and name, as an operator; empty if there is
/// none. Called for unknown nodes of all domains except ONNX's.
using FindNative = std::function<OperatorRegistry::Make(const onnx::Node& node)>;
/// Registers such a function; called by a framework's plug-in.
void add_native_operators(FindNative find);

/// Adds a framework's own function, "aten::silu", as an operator. Loads the framework. Returns the
/// operator's name, "aten.silu".
/// Throws: NotFound for an unknown function; ValueError for a name without "::".
std::string custom_op_from_native(const std::string& framework, const std::string& function);

}  // namespace d5

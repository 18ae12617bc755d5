// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "d5/level0_ops/operator/operator_registry.hpp"

namespace d5 {

/// Operators that users bring. Every framework's registry looks here for what it does not have
/// itself, and runs them with the kernel that they came with. Add by the functions below.
[[nodiscard]] OperatorRegistry& custom_operators();

/// What becomes of an operator that is there already, under the same domain, name and version.
enum class IfTaken {
  refuse,
  replace,  ///< in what is planned from then on
};

/// Throws: ValueError if it is taken, also by one of overlapping versions.
void add_custom_operator(const std::string& name, const OperatorVersions& versions,
                         OperatorRegistry::Make make, IfTaken if_taken = IfTaken::refuse);

/// Loads operators that a user wrote against `d5/abi.h` from a shared library, and adds them.
/// Returns their names, "example.LogCosh". The library stays loaded.
/// Throws: IoError; Unsupported if it is no such library, or its ABI version is not d5's;
/// ValueError if an operator is there already.
std::vector<std::string> load_custom_operators(const std::string& library_path,
                                               IfTaken if_taken = IfTaken::refuse);

/// A framework's own functions as operators: makes the node's if it has one of its domain and name,
/// and is empty otherwise. Asked for nodes that nobody else knows, all domains but ONNX's.
using FindNative = std::function<OperatorRegistry::Make(const onnx::Node& node)>;
/// Called by a framework's plug-in.
void add_native_operators(FindNative find);

/// A framework's own function, "aten::silu", as an operator for any network and test. Loads the
/// framework. Returns the operator's name, "aten.silu".
/// Throws: NotFound if there is no such function; ValueError for a name without "::".
std::string custom_op_from_native(const std::string& framework, const std::string& function);

}  // namespace d5

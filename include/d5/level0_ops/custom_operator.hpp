// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/level0_ops/operator_registry.hpp"

namespace d5 {

/// Loads operators that a user wrote in C against `d5/abi.h` from a shared library, and registers
/// them in `registry`. Returns their names. The library stays loaded.
/// Throws: IoError; Unsupported if it is no such library, or its ABI version is not d5's;
/// ValueError if an operator is there already.
std::vector<std::string> load_custom_operators(const std::string& library_path,
                                               OperatorRegistry& registry);

}  // namespace d5

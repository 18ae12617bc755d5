// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/level0_ops/operator_registry.hpp"

namespace d5 {

/// Loads operators that a user wrote in C against `d5/abi.h` from a shared library, and registers
/// them in `registry`. Returns their names. The library stays loaded.
/// Throws: IoError, Unsupported (its ABI version is not d5's).
std::vector<std::string> load_custom_operators(const std::string& library_path,
                                               OperatorRegistry& registry);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
// Common part of the containers' fuzzers: damage a valid file, open it and read it to its end.
#pragma once

#include <string>

#include "d5/core/tensor/random.hpp"

namespace d5::fuzz {

/// A file of `container` with all that samples may be, with a small change.
[[nodiscard]] std::string damaged_container(const std::string& container, RandomStream& random);

/// Reads every sample of a file of those bytes, its index made in memory where it has one.
void read_container(const std::string& container, const std::string& bytes);

}  // namespace d5::fuzz

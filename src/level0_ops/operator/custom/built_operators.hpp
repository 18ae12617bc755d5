// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "d5/level0_ops/operator/build_operators.hpp"

namespace d5::detail {

/// A compiled source.
struct BuiltOperators {
  std::string source;    ///< its file, in the cache if it was given as text
  std::string library;   ///< its path in the cache
  std::string compiler;  ///< "g++ (Debian 12.2.0-14+deb12u1) 12.2.0"
  std::string flags;
};

/// `build_operators`, with the compiler and its flags. Throws: as it.
[[nodiscard]] BuiltOperators built_operators(const std::string& source,
                                             const std::map<std::string, std::string>& definitions,
                                             const BuildLimits& limits);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/core/tensor/value.hpp"

namespace d5::detail {

/// Adds the state of one part to the state of the whole, under names that begin with `prefix`.
inline void add_part(ValueMap& whole, const std::string& prefix, const ValueMap& part) {
  for (const auto& [name, value] : part) whole[prefix + name] = value;
}

/// The inverse: a part's state under its own names.
[[nodiscard]] inline ValueMap part_of(const ValueMap& whole, const std::string& prefix) {
  ValueMap part;
  for (const auto& [name, value] : whole) {
    if (name.starts_with(prefix)) part[name.substr(prefix.size())] = value;
  }
  return part;
}

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#include "level2_training/classification.hpp"

#include "d5/core/registry.hpp"

namespace d5::detail {

const Tensor& named(const ValueMap& values, const std::string& name, const char* kind) {
  const auto place = values.find(name);
  if (place != values.end()) return place->second.tensor();
  std::vector<std::string> known;
  for (const auto& [other, value] : values) known.push_back(other);
  throw_unknown_name(kind, name, known);
}

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#include "level2_training/training/classification.hpp"

#include "d5/core/registry.hpp"

namespace d5 {

void ClassificationNames::declare(OptionList& options) {
  options.add("logits", logits, "network output with a score for each class");
  options.add("label", label, "field of a batch with the right class");
}

namespace detail {

const Tensor& named(const ValueMap& values, const std::string& name, const char* kind) {
  const auto place = values.find(name);
  if (place != values.end()) return place->second.tensor();
  std::vector<std::string> known;
  for (const auto& [other, value] : values) known.push_back(other);
  throw_unknown_name(kind, name, known);
}

}  // namespace detail
}  // namespace d5

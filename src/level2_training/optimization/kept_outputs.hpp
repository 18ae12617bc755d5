// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "d5/core/tensor/value.hpp"

namespace d5::detail {

/// Copies of a run's outputs, which the next run does not overwrite.
class KeptOutputs {
 public:
  void keep(const ValueMap& outputs) {
    std::erase_if(kept_, [&](const auto& one) { return !outputs.contains(one.first); });
    for (const auto& [name, value] : outputs) {
      Value& kept = kept_[name];
      if (!value.is_tensor()) {
        kept = value;
      } else if (kept.is_tensor() && kept.tensor().desc() == value.tensor().desc()) {
        kept.tensor().copy_from(value.tensor());
      } else {
        kept = value.tensor().copy();
      }
    }
  }
  [[nodiscard]] const ValueMap& all() const { return kept_; }

 private:
  ValueMap kept_;
};

}  // namespace d5::detail

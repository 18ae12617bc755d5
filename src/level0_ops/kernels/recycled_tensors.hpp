// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "d5/core/tensor/value.hpp"

namespace d5::detail {

/// Memory for a value that changes from run to run, reused as soon as no other owner keeps it. A
/// steady state allocates nothing.
class RecycledTensors {
 public:
  /// A tensor of `desc` with undefined contents; the next call may move it. `allocate(desc)` makes
  /// a new one if none is free.
  template <class Allocate>
  Value& take(const TensorDesc& desc, const Allocate& allocate) {
    for (Value& value : values_) {
      if (is_free(value) && value.tensor().desc() == desc) return value;
    }
    drop_free();
    if (values_.size() == kMost) values_.erase(values_.begin());
    return values_.emplace_back(allocate(desc));
  }
  /// Frees unused tensors.
  void drop_free() { std::erase_if(values_, is_free); }

 private:
  /// A loop reads one and writes another, while its previous result is still an output.
  static constexpr std::size_t kMost = 3;
  static bool is_free(const Value& value) { return value.tensor().owner().use_count() == 1; }

  std::vector<Value> values_;
};

}  // namespace d5::detail

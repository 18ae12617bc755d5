// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "d5/core/tensor/value.hpp"

namespace d5::detail {

/// Memory for a value that changes from run to run: used again as soon as nobody else keeps what
/// lay there. In a steady state it allocates nothing.
class RecycledTensors {
 public:
  /// A tensor of `desc`, contents undefined; the next call may move it. `allocate(desc)` makes one
  /// where none is free.
  template <class Allocate>
  Value& take(const TensorDesc& desc, const Allocate& allocate) {
    for (Value& value : values_) {
      if (is_free(value) && value.tensor().desc() == desc) return value;
    }
    drop_free();
    if (values_.size() == kMost) values_.erase(values_.begin());
    return values_.emplace_back(allocate(desc));
  }
  /// Gives back what nobody else keeps.
  void drop_free() { std::erase_if(values_, is_free); }

 private:
  /// A loop reads one and writes another, while what it made before is still an output.
  static constexpr std::size_t kMost = 3;
  static bool is_free(const Value& value) { return value.tensor().owner().use_count() == 1; }

  std::vector<Value> values_;
};

}  // namespace d5::detail

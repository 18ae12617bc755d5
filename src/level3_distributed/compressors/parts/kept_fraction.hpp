// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "d5/core/entries/option.hpp"

namespace d5::detail {

/// The number of elements of a bucket to send.
struct KeptFraction {
  double fraction = 0.01;
  std::int64_t k = 0;

  void declare(OptionList& options) {
    options.add("fraction", fraction, "fraction of each bucket's elements to send, at least one",
                {.above = 0, .most = 1});
    options.add("k", k, "number of elements of each bucket to send; 0: by fraction", {.least = 0});
  }
  /// The number for a bucket of `elements`. Throws: ValueError if a bucket has fewer than `k`
  /// elements.
  [[nodiscard]] std::int64_t of(std::int64_t elements) const;
};

}  // namespace d5::detail

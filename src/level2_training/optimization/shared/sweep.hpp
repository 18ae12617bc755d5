// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "d5/core/machine/threads.hpp"

namespace d5::detail {

/// One pass over a parameter's elements: `body(begin, end)`, on several threads if that pays. Each
/// element is independent, so the number of threads changes no bits.
template <class Body>
void sweep(std::int64_t count, const Body& body) {
  constexpr std::int64_t kGrain = std::int64_t{1} << 16;
  if (count <= kGrain) return body(std::int64_t{0}, count);
  parallel_for(count, kGrain, std::cref(body));  // by reference: std::function allocates nothing
}

}  // namespace d5::detail

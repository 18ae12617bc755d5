// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace d5::conformance {

/// Counts heap allocations by d5's libraries and plug-ins while it lives, on all threads: the
/// caller of `malloc` or `new` counts, behind C's and C++'s own libraries. A framework library's
/// own allocations do not count. One at a time.
///
/// The program that uses it defines its own `malloc`, which makes this possible.
class HeapWatch {
 public:
  HeapWatch();
  ~HeapWatch();
  HeapWatch(const HeapWatch&) = delete;
  HeapWatch& operator=(const HeapWatch&) = delete;

  void stop();
  [[nodiscard]] std::size_t count() const;
  /// The functions on the way to the first one; empty if there was none.
  [[nodiscard]] std::string first() const;
};

}  // namespace d5::conformance

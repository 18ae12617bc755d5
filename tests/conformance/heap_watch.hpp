// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace d5::conformance {

/// Counts the heap allocations that d5's libraries and plug-ins make while it lives, on all
/// threads: whoever called `malloc` or `new`, C's and C++'s own libraries looked through. What a
/// framework's library allocates for itself does not count. One at a time.
///
/// The program that uses it has its own `malloc`, which is why it can tell.
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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace d5::detail {

/// Memory of twice the last-level cache; walking through it drives everything else out.
class ColdCache {
 public:
  ColdCache();
  /// Writes every cache line, on all threads, so that each core's own caches are emptied too.
  void evict();
  [[nodiscard]] std::size_t bytes() const { return lines_.size() * sizeof(Line); }

 private:
  struct alignas(64) Line {
    unsigned char bytes[64];
  };
  std::vector<Line> lines_;
};

}  // namespace d5::detail

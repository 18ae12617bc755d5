// SPDX-License-Identifier: Apache-2.0
#include "core/measuring/cold_cache.hpp"

#include <unistd.h>

#include <algorithm>

#include "d5/core/threads.hpp"

namespace d5::detail {
namespace {

std::size_t last_level_cache_bytes() {
  const long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE), l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
  const long known = std::max(l2, l3);
  return known > 0 ? std::size_t(known) : std::size_t(64) << 20;  // where the system hides it
}

}  // namespace

ColdCache::ColdCache() : lines_(2 * last_level_cache_bytes() / sizeof(Line)) {}

void ColdCache::evict() {
  parallel_for(std::int64_t(lines_.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      // Volatile: the compiler must not find out that nobody reads it.
      volatile unsigned char& byte = lines_[std::size_t(i)].bytes[0];
      byte = static_cast<unsigned char>(byte + 1);
    }
  });
}

}  // namespace d5::detail

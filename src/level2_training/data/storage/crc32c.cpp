// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/storage/crc32c.hpp"

#include <isa-l/crc.h>

#include <algorithm>

namespace d5::detail {

std::uint32_t crc32c(std::string_view bytes) {
  constexpr std::size_t kPiece = std::size_t{1} << 30;  // the library counts in an int
  std::uint32_t sum = 0xffffffffu;
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), kPiece);
    // The library's type lacks const, but it only reads.
    auto* data = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
    sum = crc32_iscsi(data, int(count), sum);
    bytes.remove_prefix(count);
  }
  return ~sum;
}

}  // namespace d5::detail

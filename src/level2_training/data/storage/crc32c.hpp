// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace d5::detail {

/// The Castagnoli checksum of iSCSI (RFC 3720, B.4).
[[nodiscard]] std::uint32_t crc32c(std::string_view bytes);

/// As TFRecord files store it, so that the sum of data that hold sums says something, too.
[[nodiscard]] inline std::uint32_t masked_crc32c(std::string_view bytes) {
  const std::uint32_t sum = crc32c(bytes);
  return ((sum >> 15) | (sum << 17)) + 0xa282ead8u;
}

}  // namespace d5::detail

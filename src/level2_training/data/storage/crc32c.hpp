// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace d5::detail {

/// The Castagnoli checksum of iSCSI (RFC 3720, B.4).
[[nodiscard]] std::uint32_t crc32c(std::string_view bytes);

/// The masked form of TFRecord files, for checksums of data that contain checksums.
[[nodiscard]] inline std::uint32_t masked_crc32c(std::string_view bytes) {
  const std::uint32_t sum = crc32c(bytes);
  return ((sum >> 15) | (sum << 17)) + 0xa282ead8u;
}

}  // namespace d5::detail

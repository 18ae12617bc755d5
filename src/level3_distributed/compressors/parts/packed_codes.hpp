// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace d5::detail {

/// Bytes of `count` codes of `bits` bits each, 1 to 8, without gaps.
[[nodiscard]] constexpr std::int64_t packed_bytes(std::int64_t count, int bits) {
  return (count * bits + 7) / 8;
}
/// Packs codes, the first into the lowest bits of the first byte. Codes are below 2^bits.
void pack_codes(std::span<const std::uint8_t> codes, int bits, std::span<std::uint8_t> packed);
void unpack_codes(std::span<const std::uint8_t> packed, int bits, std::span<std::uint8_t> codes);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/compressors/parts/packed_signs.hpp"

#include <bit>

namespace d5::detail {

void pack_signs(std::span<const float> values, std::span<std::uint8_t> packed) {
  const std::size_t whole = values.size() / 8;
  const auto sign = [&values](std::size_t i) {
    return std::bit_cast<std::uint32_t>(values[i]) >> 31;
  };
  for (std::size_t b = 0; b < whole; ++b) {
    std::uint32_t byte = 0;
    for (std::size_t i = 0; i < 8; ++i) byte |= sign(8 * b + i) << i;
    packed[b] = static_cast<std::uint8_t>(byte);
  }
  if (8 * whole == values.size()) return;
  std::uint32_t byte = 0;
  for (std::size_t i = 8 * whole; i < values.size(); ++i) byte |= sign(i) << (i - 8 * whole);
  packed[whole] = static_cast<std::uint8_t>(byte);
}

void add_signs(std::span<const std::uint8_t> packed, float magnitude, std::span<float> values) {
  const auto bits = std::bit_cast<std::uint32_t>(magnitude);
  const auto signed_by = [bits](std::uint32_t bit) {
    return std::bit_cast<float>(bits ^ (bit << 31));
  };
  const std::size_t whole = values.size() / 8;
  for (std::size_t b = 0; b < whole; ++b) {
    const std::uint32_t byte = packed[b];
    for (std::size_t i = 0; i < 8; ++i) values[8 * b + i] += signed_by((byte >> i) & 1);
  }
  for (std::size_t i = 8 * whole; i < values.size(); ++i) {
    values[i] += signed_by((std::uint32_t{packed[whole]} >> (i - 8 * whole)) & 1);
  }
}

}  // namespace d5::detail

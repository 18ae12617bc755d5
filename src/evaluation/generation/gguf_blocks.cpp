// SPDX-License-Identifier: Apache-2.0
#include "evaluation/generation/gguf_blocks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "d5/core/tensor/small_float.hpp"

namespace d5::detail {
namespace {

static_assert(std::endian::native == std::endian::little, "GGUF is little-endian");

constexpr std::size_t kBlock = 32;  // numbers that share a scale

float half_at(const unsigned char* bytes) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, bytes, sizeof(bits));
  return float(Float16::from_bits(bits));
}

void read_float(const unsigned char* block, float* into) {
  std::memcpy(into, block, sizeof(float));
}

void read_half(const unsigned char* block, float* into) { *into = half_at(block); }

/// scale q, of 8 bits with a sign.
void read_q8_0(const unsigned char* block, float* into) {
  const float scale = half_at(block);
  for (std::size_t i = 0; i < kBlock; ++i) into[i] = scale * float(std::int8_t(block[2 + i]));
}

/// Number i of a block is in the low half of byte i, number i + 16 in the high half.
void read_nibbles(const unsigned char* bytes, float* into, float scale, float offset) {
  for (std::size_t i = 0; i < kBlock / 2; ++i) {
    into[i] = scale * float(bytes[i] & 0xF) + offset;
    into[i + kBlock / 2] = scale * float(bytes[i] >> 4) + offset;
  }
}

/// scale (q - 8)
void read_q4_0(const unsigned char* block, float* into) {
  const float scale = half_at(block);
  read_nibbles(block + 2, into, scale, -8 * scale);
}

/// scale q + least
void read_q4_1(const unsigned char* block, float* into) {
  read_nibbles(block + 4, into, half_at(block), half_at(block + 2));
}

constexpr std::array<GgufType, 5> kTypes{{
    {0, "F32", 1, 4, read_float},
    {1, "F16", 1, 2, read_half},
    {2, "Q4_0", kBlock, 18, read_q4_0},
    {3, "Q4_1", kBlock, 20, read_q4_1},
    {8, "Q8_0", kBlock, 34, read_q8_0},
}};

}  // namespace

const GgufType* find_gguf_type(std::uint32_t number) {
  const auto type = std::ranges::find(kTypes, number, &GgufType::number);
  return type == kTypes.end() ? nullptr : &*type;
}

}  // namespace d5::detail

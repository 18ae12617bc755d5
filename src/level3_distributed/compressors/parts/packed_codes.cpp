// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/compressors/parts/packed_codes.hpp"

#include <cstddef>
#include <cstring>
#include <type_traits>

namespace d5::detail {
namespace {

/// Eight codes fill exactly `bits` bytes, so no code crosses a group.
constexpr std::size_t kGroup = 8;

template <int kBits>
void pack(std::span<const std::uint8_t> codes, std::uint8_t* packed) {
  const std::size_t groups = codes.size() / kGroup, rest = codes.size() % kGroup;
  const auto word_of = [](const std::uint8_t* group, std::size_t count) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < count; ++i) word |= std::uint64_t{group[i]} << (kBits * i);
    return word;
  };
  for (std::size_t g = 0; g < groups; ++g) {
    const std::uint64_t word = word_of(codes.data() + g * kGroup, kGroup);
    std::memcpy(packed + g * kBits, &word, kBits);
  }
  if (rest == 0) return;
  const std::uint64_t word = word_of(codes.data() + groups * kGroup, rest);
  std::memcpy(packed + groups * kBits, &word,
              static_cast<std::size_t>(packed_bytes(static_cast<std::int64_t>(rest), kBits)));
}

template <int kBits>
void unpack(const std::uint8_t* packed, std::span<std::uint8_t> codes) {
  const std::size_t groups = codes.size() / kGroup, rest = codes.size() % kGroup;
  const auto split = [](std::uint64_t word, std::uint8_t* group, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      group[i] = static_cast<std::uint8_t>((word >> (kBits * i)) & ((1u << kBits) - 1));
    }
  };
  for (std::size_t g = 0; g < groups; ++g) {
    std::uint64_t word = 0;
    std::memcpy(&word, packed + g * kBits, kBits);
    split(word, codes.data() + g * kGroup, kGroup);
  }
  if (rest == 0) return;
  std::uint64_t word = 0;
  std::memcpy(&word, packed + groups * kBits,
              static_cast<std::size_t>(packed_bytes(static_cast<std::int64_t>(rest), kBits)));
  split(word, codes.data() + groups * kGroup, rest);
}

template <class F>
void with_width(int bits, const F& f) {
  switch (bits) {
    case 1:
      return f(std::integral_constant<int, 1>());
    case 2:
      return f(std::integral_constant<int, 2>());
    case 3:
      return f(std::integral_constant<int, 3>());
    case 4:
      return f(std::integral_constant<int, 4>());
    case 5:
      return f(std::integral_constant<int, 5>());
    case 6:
      return f(std::integral_constant<int, 6>());
    case 7:
      return f(std::integral_constant<int, 7>());
    default:
      return f(std::integral_constant<int, 8>());
  }
}

}  // namespace

void pack_codes(std::span<const std::uint8_t> codes, int bits, std::span<std::uint8_t> packed) {
  with_width(bits, [&](auto width) { pack<width()>(codes, packed.data()); });
}

void unpack_codes(std::span<const std::uint8_t> packed, int bits, std::span<std::uint8_t> codes) {
  with_width(bits, [&](auto width) { unpack<width()>(packed.data(), codes); });
}

}  // namespace d5::detail

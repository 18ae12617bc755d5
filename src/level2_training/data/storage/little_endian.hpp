// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstring>
#include <string>
#include <type_traits>

namespace d5::detail {

static_assert(std::endian::native == std::endian::little, "files are little-endian");

/// Loads the number at `bytes`, aligned or not.
template <class T>
  requires std::is_arithmetic_v<T>
[[nodiscard]] T from_little_endian(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

template <class T>
  requires std::is_arithmetic_v<T>
[[nodiscard]] std::string to_little_endian(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

}  // namespace d5::detail

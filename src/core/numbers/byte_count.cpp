// SPDX-License-Identifier: Apache-2.0
#include "d5/core/numbers/byte_count.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

using Unit = std::pair<std::string_view, double>;
constexpr Unit kBinary[] = {{"TiB", 1099511627776.0},
                            {"GiB", 1073741824.0},
                            {"MiB", 1048576.0},
                            {"KiB", 1024.0},
                            {"B", 1.0}};
constexpr Unit kDecimal[] = {{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"", 1.0}};

/// 0 for an unknown unit.
double bytes_of(std::string_view unit) {
  for (const auto& [name, bytes] : kBinary) {
    if (unit == name) return bytes;
  }
  for (const auto& [name, bytes] : kDecimal) {
    if (unit == name) return bytes;
  }
  return 0;
}

}  // namespace

std::size_t byte_count(const std::string& words) {
  double number = 0;
  const auto [rest, error] =
      std::from_chars(words.data(), words.data() + words.size(), number, std::chars_format::fixed);
  std::string_view unit(rest, std::size_t(words.data() + words.size() - rest));
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  const double bytes = std::floor(number * bytes_of(unit));
  if (error != std::errc() || !(bytes >= 1 && bytes < 0x1p63)) {
    throw ValueError(
        fmt::format("'{}' is not a number of bytes; expected one such as 512MiB, 2GB or 4096",
                    printable(words)));
  }
  return std::size_t(bytes);
}

std::string byte_words(std::size_t bytes) {
  for (const auto& [name, size] : kBinary) {
    const auto unit = std::size_t(size);
    if (bytes >= unit && bytes % unit == 0) return fmt::format("{}{}", bytes / unit, name);
  }
  return "0B";
}

std::string memory_size(double bytes) {
  if (bytes == 0) return "-";
  constexpr std::array<std::string_view, 5> units = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.size(); ++unit) bytes /= 1024;
  return fmt::format("{:.4g} {}", bytes, units[unit]);
}

}  // namespace d5

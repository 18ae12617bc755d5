// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "d5/core/numbers/duration.hpp"
#include "d5/level3_distributed/decorators/wire_model.hpp"

namespace d5 {
namespace {

constexpr std::pair<std::string_view, double> kBits[] = {
    {"Tbit", 1e12}, {"Gbit", 1e9}, {"Mbit", 1e6}, {"kbit", 1e3}, {"bit", 1}};

/// Parses bit/s and returns bytes/s; 0 for other text.
double of_bits(std::string_view words) {
  double number = 0;
  const auto [rest, error] =
      std::from_chars(words.data(), words.data() + words.size(), number, std::chars_format::fixed);
  std::string_view unit = words.substr(std::size_t(rest - words.data()));
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const auto& [name, bits] : kBits) {
    if (error == std::errc() && unit == name) return number * bits / 8;
  }
  return 0;
}

double bytes_per_second_of(std::string words) {
  constexpr std::string_view kSecond = "/s";
  if (!words.ends_with(kSecond)) return 0;
  words.resize(words.size() - kSecond.size());
  if (words.ends_with("bit")) return of_bits(words);
  try {
    return static_cast<double>(byte_count(words));
  } catch (const ValueError&) {
    return 0;
  }
}

std::string rate_words(double bytes_per_second) {
  for (const auto& [unit, size] : {std::pair{"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}}) {
    if (bytes_per_second >= size) return fmt::format("{}{}/s", bytes_per_second / size, unit);
  }
  return fmt::format("{}B/s", bytes_per_second);
}

}  // namespace

WireOptions wire_of(const std::string& words) {
  WireOptions wire;
  const std::size_t comma = words.find(',');
  try {
    wire.latency = duration_of(words.substr(0, comma));
  } catch (const ValueError&) {
    throw ValueError(
        fmt::format("wire '{}': '{}' is not a latency; expected latency,bandwidth such "
                    "as 50us,1GB/s or 0us,10Gbit/s",
                    printable(words), printable(words.substr(0, comma))));
  }
  const std::string bandwidth = comma == std::string::npos ? "" : words.substr(comma + 1);
  wire.bytes_per_second = bytes_per_second_of(bandwidth);
  if (wire.bytes_per_second >= 1) return wire;
  throw ValueError(
      fmt::format("wire '{}': '{}' is not a bandwidth of 1B/s or more; expected "
                  "latency,bandwidth such as 50us,1GB/s or 0us,10Gbit/s",
                  printable(words), printable(bandwidth)));
}

std::string to_string(const WireOptions& wire) {
  return fmt::format("{},{}", duration_words(wire.latency), rate_words(wire.bytes_per_second));
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/numbers/duration.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

constexpr std::pair<std::string_view, std::int64_t> kUnits[] = {
    {"h", 3'600'000'000'000}, {"min", 60'000'000'000}, {"s", 1'000'000'000},
    {"ms", 1'000'000},        {"us", 1'000},           {"ns", 1},
    {"\u00b5s", 1'000},       {"\u03bcs", 1'000}};   // micro sign, as in tables, and Greek mu
constexpr double kMost = 200.0 * 365 * 24 * 3600e9;  // fits in 64 bits of nanoseconds

}  // namespace

std::chrono::nanoseconds duration_of(const std::string& words) {
  double number = 0;
  const char* end = words.data() + words.size();
  const auto [rest, error] = std::from_chars(words.data(), end, number, std::chars_format::fixed);
  std::string_view unit(rest, std::size_t(end - rest));
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const auto& [name, nanoseconds] : kUnits) {
    if (error != std::errc() || unit != name) continue;
    const double value = std::round(number * double(nanoseconds));
    if (value >= 0 && value <= kMost) return std::chrono::nanoseconds(std::int64_t(value));
  }
  throw ValueError(fmt::format(
      "'{}' is not a duration; expected one such as 50us, 1.5ms, 10s or 2min", printable(words)));
}

double duration_seconds(const std::string& words) {
  return std::chrono::duration<double>(duration_of(words)).count();
}

std::string duration_words(std::chrono::nanoseconds duration) {
  for (const auto& [name, nanoseconds] : kUnits) {
    if (nanoseconds > kUnits[2].second) continue;  // "90s" is easier to read
    if (duration.count() % nanoseconds != 0) continue;
    return fmt::format("{}{}", duration.count() / nanoseconds, name);
  }
  return fmt::format("{}ns", duration.count());
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "core/results/scaled_unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "d5/core/results/results.hpp"

namespace d5 {
namespace detail {
namespace {

constexpr int kMostDigits = 6;

/// The power of ten of the first digit, after rounding to `significant` digits.
int first_place(double value, int significant) {
  const std::string text = fmt::format("{:.{}e}", std::abs(value), significant - 1);
  return std::stoi(text.substr(text.find('e') + 1));
}

/// Whether the unit is money: three letters by ISO 4217, which take no prefixes.
bool is_currency(const std::string& unit) {
  constexpr std::size_t kLetters = 3;
  return unit.size() == kLetters &&
         std::ranges::all_of(unit, [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace

ScaledUnit scaled_unit(double value, const std::string& unit) {
  if (unit == "1" || unit.empty()) return {1, ""};
  if (is_currency(unit)) return {1, unit};
  // Bytes are abbreviated to B, also in "byte/s".
  const std::string name = unit.starts_with("byte") ? "B" + unit.substr(4) : unit;
  if (!std::isfinite(value) || value == 0) return {1, name};
  constexpr std::array<std::string_view, 11> prefixes = {"f", "p", "n", "µ", "m", "",
                                                         "k", "M", "G", "T", "P"};
  // Excludes kiloseconds, and fractions of a byte or an operation.
  const bool whole = name == "B" || name == "flop";
  const int most = name == "s" ? 0 : 5, least = whole ? 0 : -5;
  const int power = std::clamp(int(std::floor(first_place(value, 3) / 3.0)), least, most);
  return {std::pow(10.0, 3 * power), std::string(prefixes[std::size_t(power + 5)]) + name};
}

std::string with_digits(double value, int significant) {
  return with_digits(value, significant, value);
}

std::string with_digits(double value, int significant, double reference) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if (value == 0) return "0";
  const int place =
      first_place(reference == 0 || !std::isfinite(reference) ? value : reference, significant);
  if (place < -4 || place > 5) return fmt::format("{:.{}e}", value, significant - 1);
  return fmt::format("{:.{}f}", value, std::max(0, significant - 1 - place));
}

int supported_digits(double value, double width) {
  if (!std::isfinite(value) || value == 0 || !std::isfinite(width)) return 3;
  if (width <= 0) return kMostDigits;
  const auto place = [](double x) { return int(std::floor(std::log10(std::abs(x)))); };
  return std::clamp(place(value) - place(width) + 2, 1, kMostDigits);
}

}  // namespace detail

std::string with_prefix(double value, const std::string& unit) {
  const auto scaled = detail::scaled_unit(value, unit);
  const std::string number = detail::with_digits(value / scaled.divisor, 3);
  return scaled.name.empty() ? number : number + " " + scaled.name;
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/results/condition.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "core/results/record_words.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "d5/core/results/results.hpp"

namespace d5 {

std::string_view name_of(Role role) { return detail::kRoles.at(std::size_t(role)); }

std::string Condition::text() const {
  if (const auto* words = std::get_if<std::string>(&value)) return *words;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    if (unit.empty()) return fmt::format("{}", *whole);
    if (unit == "byte" && *whole >= 0) return byte_words(std::size_t(*whole));
    return with_prefix(double(*whole), unit);
  }
  const double real = std::get<double>(value);
  return unit.empty() ? fmt::format("{:.6g}", real) : with_prefix(real, unit);
}

std::string Condition::exact() const {
  const std::string digits =
      std::visit([](const auto& any) { return fmt::format("{}", any); }, value);
  return unit.empty() || unit == "1" ? digits : digits + " " + unit;
}

std::optional<double> Condition::number() const {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return double(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

Condition::Value typed_value(const std::string& words) {
  const char* const end = words.data() + words.size();
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (words.empty() || !(is_digit(words[0]) || words[0] == '-' || words[0] == '.')) return words;
  std::int64_t whole = 0;
  const auto [whole_end, whole_error] = std::from_chars(words.data(), end, whole);
  if (whole_error == std::errc() && whole_end == end) return whole;
  double real = 0;
  const auto [real_end, real_error] = std::from_chars(words.data(), end, real);
  if (real_error == std::errc() && real_end == end && std::isfinite(real)) return real;
  return words;
}

}  // namespace d5

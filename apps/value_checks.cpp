// SPDX-License-Identifier: Apache-2.0
#include "apps/value_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/numbers/byte_count.hpp"

namespace d5::app {
namespace {

template <class T>
std::optional<T> number(const std::string& text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end) return std::nullopt;
  return value;
}

/// Transforms text to the number's plain form, or reports what is wrong.
template <class T, class Accepts>
CLI::Validator number_check(const std::string& expected, const Accepts& accepts) {
  return CLI::Validator(
      [=](std::string& text) {
        const auto value = number<T>(text);
        if (!value || !accepts(*value)) {
          return fmt::format("'{}' given, expected {}", printable(text), expected);
        }
        text = fmt::format("{}", *value);
        return std::string();
      },
      "");
}

}  // namespace

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  const bool bounded = most < std::numeric_limits<int>::max();
  return number_check<std::int64_t>(
      bounded ? fmt::format("a whole number from {} to {}", least, most)
              : fmt::format("a whole number of {} or more", least),
      [=](std::int64_t value) { return value >= least && value <= most; });
}

CLI::Validator natural_number() {
  return number_check<std::uint64_t>("a whole number of 0 or more",
                                     [](std::uint64_t) { return true; });
}

CLI::Validator number_from_zero() {
  return number_check<double>("a finite number of 0 or more",
                              [](double value) { return std::isfinite(value) && value >= 0; });
}

CLI::Validator positive_number() {
  return number_check<double>("a finite number above 0",
                              [](double value) { return std::isfinite(value) && value > 0; });
}

CLI::Validator bytes() {
  return CLI::Validator(
      [](std::string& text) {
        try {
          text = fmt::format("{}", byte_count(text));
          return std::string();
        } catch (const ValueError& error) {
          return std::string(error.what());
        }
      },
      "");
}

CLI::Validator one_of(std::map<std::string, std::string> words) {
  return CLI::Validator(
      [words = std::move(words)](std::string& text) {
        if (const auto place = words.find(text); place != words.end()) {
          text = place->second;
          return std::string();
        }
        std::vector<std::string> known;
        for (const auto& [word, value] : words) known.push_back(word);
        const auto near = nearest_names(text, known);
        return fmt::format("'{}' given, {}expected {}", printable(text),
                           near.empty() ? "" : fmt::format("did you mean {}? ", near.front()),
                           fmt::join(known, ", "));
      },
      "");
}

}  // namespace d5::app

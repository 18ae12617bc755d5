// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <map>
#include <string>

/// Transformations of an option's text, as `option->transform(whole_number(1))`. A refusal says
/// what was given and what was expected. CLI11's own conversions, which accept octal numbers and
/// NaN, receive plain numbers.
namespace d5::app {

/// Decimal digits, from `least` to `most`.
[[nodiscard]] CLI::Validator whole_number(std::int64_t least,
                                          std::int64_t most = std::numeric_limits<int>::max());
/// Up to 64 bits, such as a seed.
[[nodiscard]] CLI::Validator natural_number();
/// Finite and above 0.
[[nodiscard]] CLI::Validator positive_number();
/// Finite and not below 0.
[[nodiscard]] CLI::Validator number_from_zero();
/// A size such as 512MiB (`byte_count`).
[[nodiscard]] CLI::Validator bytes();
/// A word, replaced by its value in the map.
[[nodiscard]] CLI::Validator one_of(std::map<std::string, std::string> words);

/// An enumerator by its name.
template <class Enum>
[[nodiscard]] CLI::Validator one_of(const std::map<std::string, Enum>& names) {
  std::map<std::string, std::string> words;
  for (const auto& [name, value] : names) words[name] = std::to_string(static_cast<int>(value));
  return one_of(std::move(words));
}

}  // namespace d5::app

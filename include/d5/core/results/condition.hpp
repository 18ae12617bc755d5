// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace d5 {

/// Role of a condition when records are compared, grouped or printed.
enum class Role {
  identity,  ///< part of the case: records with different values are different cases ("pass",
             ///< "batch")
  setting,   ///< measurement setting: must be equal in compared records ("seed", "warmup")
  finding,   ///< secondary outcome: shown, never compared ("answers", "judge")
  aside,     ///< detail for files: neither shown nor compared ("repetitions")
};
[[nodiscard]] std::string_view name_of(Role role);

/// A value that accompanies a record's number, with type, unit and role, which are chosen when it
/// is set:
///
///     record.conditions["pass"] = identity("forward");
///     record.conditions["warmup"] = setting(3);
///     record.conditions["reduced in"] = finding(0.25, "s");
struct Condition {
  using Value = std::variant<std::string, std::int64_t, double>;

  Value value = {};
  Role role = Role::identity;
  std::string unit = {};  ///< SI unit of a number ("s", "byte"); empty for texts and plain numbers

  /// Text for people: "forward", "32", "250 ms", "64MiB".
  [[nodiscard]] std::string text() const;
  /// Lossless text: "0.25 s", "67108864 byte".
  [[nodiscard]] std::string exact() const;
  /// The number in `unit`; nothing for a text, even one that looks like a number.
  [[nodiscard]] std::optional<double> number() const;

  bool operator==(const Condition&) const = default;
  /// Compares the text for people.
  friend bool operator==(const Condition& condition, std::string_view text) {
    return condition.text() == text;
  }
};

/// The conditions of a record, by name.
using Conditions = std::map<std::string, Condition, std::less<>>;

namespace detail {
template <class T>
[[nodiscard]] Condition::Value condition_value(const T& value) {
  static_assert(!std::is_same_v<T, bool>, "a condition says what is on or off in words");
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return std::string(std::string_view(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(value);
  } else {
    static_assert(std::is_integral_v<T>, "a condition is a text or a number");
    return static_cast<std::int64_t>(value);
  }
}
}  // namespace detail

/// The value of an option's text: an integer, a real number, or else the text.
[[nodiscard]] Condition::Value typed_value(const std::string& words);

template <class T>
[[nodiscard]] Condition identity(const T& value, std::string unit = {}) {
  return {detail::condition_value(value), Role::identity, std::move(unit)};
}
template <class T>
[[nodiscard]] Condition setting(const T& value, std::string unit = {}) {
  return {detail::condition_value(value), Role::setting, std::move(unit)};
}
template <class T>
[[nodiscard]] Condition finding(const T& value, std::string unit = {}) {
  return {detail::condition_value(value), Role::finding, std::move(unit)};
}
template <class T>
[[nodiscard]] Condition aside(const T& value, std::string unit = {}) {
  return {detail::condition_value(value), Role::aside, std::move(unit)};
}

}  // namespace d5

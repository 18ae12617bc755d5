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

/// What a condition means to whatever compares, groups or prints records.
enum class Role {
  identity,  ///< the case itself: records that differ in it are different cases ("pass", "batch")
  setting,   ///< how the case was measured: records must agree to be compared ("seed", "warmup")
  finding,   ///< what came out beside the number: shown, never compared ("answers", "judge")
  aside,     ///< more of the number, for files: neither shown nor compared ("repetitions")
};
[[nodiscard]] std::string_view name_of(Role role);

/// A value beside a record's number, with its type, its unit and its role, all said where it is
/// set:
///
///     record.conditions["pass"] = identity("forward");
///     record.conditions["warmup"] = setting(3);
///     record.conditions["reduced in"] = finding(0.25, "s");
struct Condition {
  using Value = std::variant<std::string, std::int64_t, double>;

  Value value = {};
  Role role = Role::identity;
  std::string unit = {};  ///< SI ("s", "byte") of a number; empty for a text and a plain number

  /// Text for people: "forward", "32", "250 ms", "64MiB".
  [[nodiscard]] std::string text() const;
  /// Text that loses no digit: "0.25 s", "67108864 byte".
  [[nodiscard]] std::string exact() const;
  /// The number in `unit`; nothing for a text, though it may look like a number.
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

/// The value that an option's words say: a whole number, a real number, or else the words.
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

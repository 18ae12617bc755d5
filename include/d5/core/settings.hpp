// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace d5 {

/// Named options as text, from a recipe or a command line, read by the part that they configure.
///
///     MomentumOptions options{.learning_rate = settings.number("learning_rate", 0.01),
///                             .momentum = settings.number("momentum", 0.9)};
///     settings.expect_all_read();   // a misspelt option is an error, with the nearest name
class Settings {
 public:
  Settings() = default;
  /// `who` names the owner in messages: "optimizer momentum".
  explicit Settings(std::string who, std::map<std::string, std::string, std::less<>> values = {});

  void set(std::string name, std::string value);
  [[nodiscard]] bool has(std::string_view name) const;

  /// Each returns `fallback` where the option was not given, and marks it as known.
  /// Throws: ValueError if the text is not of the type asked.
  [[nodiscard]] double number(std::string_view name, double fallback) const;
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t fallback) const;
  [[nodiscard]] bool flag(std::string_view name, bool fallback) const;
  [[nodiscard]] std::string text(std::string_view name, std::string_view fallback) const;
  /// Throws: NotFound if the option was not given.
  [[nodiscard]] std::string required_text(std::string_view name) const;

  /// Throws: NotFound for the first option that nobody asked for.
  void expect_all_read() const;
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& values() const {
    return values_;
  }

 private:
  const std::string* lookup(std::string_view name) const;
  std::string who_ = "settings";
  std::map<std::string, std::string, std::less<>> values_;
  mutable std::set<std::string, std::less<>> known_;
};

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "d5/core/errors/error.hpp"

namespace d5 {

/// The value of an option that is not taken: "optimizer sgd: option learning_rate is '-1', expected
/// a number >= 0".
class OptionError : public ValueError {
 public:
  OptionError(const std::string& place, std::string_view name, const std::string& given,
              std::string_view expected);
  /// `fault` stands in the message as it is: "'x' given, expected a or b".
  OptionError(const std::string& place, std::string_view name, std::string fault);
  /// The message without place and name: "'-1' given, expected a number >= 0".
  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  std::string fault_;
};

/// Named values as text, from a recipe, a command line or code, for the part that they configure.
/// What they may be called, and what they mean, that part's `Entry` says.
///
///     samplers().at("shuffle").make(data, {{"batch_size", 64}, {"tail", "drop"}});
class Settings {
 public:
  /// A number, a flag or a word, as text that reads back to the same.
  struct Value {
    Value(std::string value, bool is_text = false) : text(std::move(value)), is_text(is_text) {}
    Value(const char* value) : text(value) {}
    Value(double value);
    Value(std::same_as<bool> auto value) : text(value ? "true" : "false") {}
    template <std::integral T>
      requires(!std::same_as<T, bool>)
    Value(T value) : text(std::to_string(value)) {}
    std::string text;
    bool is_text = false;  ///< given in quotes where numbers are not: no number is read from it
  };

  Settings() = default;
  Settings(std::initializer_list<std::pair<std::string, Value>> values);
  /// `who` names the owner in messages: "optimizer momentum".
  explicit Settings(std::string who, std::map<std::string, std::string, std::less<>> values = {});

  /// `place` is where that stands, for messages: "recipe.yaml:9".
  void set(std::string name, Value value, std::string place = {});
  /// Takes `name` away; its text, or `fallback` where it was not given.
  std::string take(std::string_view name, std::string_view fallback);
  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] bool is_text(std::string_view name) const { return texts_.contains(name); }

  /// Each returns `fallback` where the option was not given.
  /// Throws: OptionError if the text is not of the type asked; TypeError for a number that was
  /// given in quotes (`Value::is_text`).
  [[nodiscard]] double number(std::string_view name, double fallback) const;
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t fallback) const;
  [[nodiscard]] std::uint64_t natural(std::string_view name, std::uint64_t fallback) const;
  [[nodiscard]] bool flag(std::string_view name, bool fallback) const;
  [[nodiscard]] std::string text(std::string_view name, std::string_view fallback) const;
  /// Those below `name`: "segments" of "all_reduce.segments".
  [[nodiscard]] Settings below(std::string_view name) const;

  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& values() const {
    return values_;
  }
  /// The same for an owner called `who`, unless they name one already.
  [[nodiscard]] Settings owned_by(std::string_view who) const;
  /// What a message about `name` begins with: "recipe.yaml:9: optimizer momentum".
  [[nodiscard]] std::string place_of(std::string_view name) const;

 private:
  const std::string* lookup(std::string_view name) const;
  const std::string* lookup_number(std::string_view name, std::string_view expected) const;
  std::string who_;
  std::map<std::string, std::string, std::less<>> values_, places_;
  std::set<std::string, std::less<>> texts_;  // names of values that are `is_text`
};

}  // namespace d5

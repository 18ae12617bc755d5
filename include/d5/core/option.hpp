// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "d5/core/settings.hpp"

namespace d5 {

/// One option of an entry, as `d5 list KIND NAME` shows it.
struct Option {
  std::string name;
  std::string type;  ///< "number", "integer", "flag", "text", or what to choose from: "keep|drop"
  std::string initial;  ///< its value where it is not given, as text
  std::string range;    ///< ">= 0, < 1"; empty: whatever is of the type
  std::string help;
};

/// Bounds of a number; all that are given hold.
struct OptionRange {
  std::optional<double> least = {}, above = {}, most = {}, below = {};

  /// NaN is out of every range that has a bound.
  [[nodiscard]] bool holds(double value) const;
};
/// ">= 0, < 1".
[[nodiscard]] std::string to_string(const OptionRange& range);

/// Another entry that an option chooses, with settings of its own: `all_reduce: ring`, or
/// `all_reduce: {name: ring, segments: 4}`.
struct EntryChoice {
  std::string name;
  Settings settings = {};
};

/// The options of a part: each is told once, with the member that holds it, whose initial value is
/// the default. The same telling lists them, reads them from settings, and checks these.
///
///     struct SgdOptions {
///       double learning_rate = 0.01;
///       void declare(OptionList& options) {
///         options.add("learning_rate", learning_rate, "step along the gradient", {.least = 0});
///       }
///     };
///     const auto options = read_options<SgdOptions>({{"learning_rate", 0.1}});
class OptionList {
 public:
  explicit OptionList(const Settings& settings = {}) : settings_(settings) {}

  /// Throws: ValueError for text that is not of the type, or a value out of range.
  void add(std::string name, double& value, std::string help, OptionRange range = {});
  void add(std::string name, std::int64_t& value, std::string help, OptionRange range = {});
  void add(std::string name, std::uint64_t& value, std::string help);
  void add(std::string name, bool& value, std::string help);
  void add(std::string name, std::string& value, std::string help);
  /// `words` are the enumerators' names, in their order, from 0.
  template <class Enum>
    requires std::is_enum_v<Enum>
  void add(std::string name, Enum& value, std::string help,
           std::initializer_list<const char*> words) {
    value = static_cast<Enum>(
        choose(std::move(name), static_cast<std::size_t>(value), std::move(help), words));
  }
  /// `kind` is the word for what is chosen: "all-reduce".
  void add(std::string name, EntryChoice& value, std::string help, std::string kind);
  /// Numbers between commas: "0.485,0.456,0.406"; the range holds for each.
  void add(std::string name, std::vector<double>& values, std::string help, OptionRange range = {});
  /// Entries one after another: "decode,flip" where none has settings, and a recipe's list, in
  /// which each is a name or a map with its name and its settings. `kind` is the word for one.
  void add(std::string name, std::vector<EntryChoice>& values, std::string help, std::string kind);

  [[nodiscard]] const std::vector<Option>& options() const { return options_; }
  /// A real number that was told, where it is kept.
  struct Number {
    std::string name;
    double* value;
    OptionRange range;
  };
  [[nodiscard]] const std::vector<Number>& numbers() const { return numbers_; }
  /// Throws: NotFound for a setting that is none of the options, with the nearest one.
  void expect_all_known() const;

 private:
  std::size_t choose(std::string name, std::size_t value, std::string help,
                     std::span<const char* const> words);
  void check_range(const Option& option, double value, const OptionRange& range) const;

  Settings settings_;
  std::vector<Option> options_;
  std::vector<Number> numbers_;
  std::vector<std::string> choices_;  // names of options that have settings below them
};

/// Options as their defaults say: those of the type, or of the `options` that are given.
template <class Options>
[[nodiscard]] std::vector<Option> options_of(Options options = Options()) {
  OptionList list;
  options.declare(list);
  return list.options();
}

/// Throws: NotFound for a setting that is none of the options; ValueError.
template <class Options>
[[nodiscard]] Options read_options(const Settings& settings, Options options = Options()) {
  OptionList list(settings);
  options.declare(list);
  list.expect_all_known();
  return options;
}

/// Reads the options that several parts share, and leaves the other settings to their owner.
/// Throws: ValueError.
template <class Options>
[[nodiscard]] Options read_shared_options(const Settings& settings) {
  OptionList list(settings);
  Options options;
  options.declare(list);
  return options;
}

}  // namespace d5

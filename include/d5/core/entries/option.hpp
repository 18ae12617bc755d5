// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "d5/core/entries/settings.hpp"

namespace d5 {

/// One option of an entry, as `d5 list KIND NAME` shows it.
struct Option {
  std::string name;
  std::string type;     ///< "number", "integer", "flag", "text", or the choices: "keep|drop"
  std::string initial;  ///< default value, as text
  std::string range;    ///< ">= 0, < 1"; empty: any value of the type
  std::string help;
  /// Placeholder of the value in a help text: "N", "S", "FILE"; empty for a flag.
  std::string placeholder = {};
  bool is_list = false;   ///< takes several values, separated by commas
  std::string flag = {};  ///< the program's option, if its name differs: "--batch"
};

/// An option in a message, as its reader would write it: judge_seconds=60, or in the program
/// --judge-seconds 60; a repeatable one is dims={'n': 4}, or --dim n=4.
[[nodiscard]] std::string option_word(std::string_view name, const Settings::Value& value = "");
/// Called by the program at its start: messages name options as its command line does.
void use_option_flags();

/// Bounds of a number; all given bounds hold.
struct OptionRange {
  std::optional<double> least = {}, above = {}, most = {}, below = {};
  std::string unit = {};  ///< what the number counts in: "s"

  /// NaN is out of every range that has a bound.
  [[nodiscard]] bool holds(double value) const;
};
/// ">= 0, < 1".
[[nodiscard]] std::string to_string(const OptionRange& range);

/// Restrictions on a text.
struct OptionText {
  std::string placeholder = "TEXT";     ///< unused if there are `words`
  std::vector<std::string> words = {};  ///< choices; empty: any text
  /// Returns the text to keep; throws ValueError for an invalid one. Empty: keeps the text as
  /// given.
  std::function<std::string(const std::string&)> read = {};
};

/// Another entry that an option chooses, with settings of its own: `all_reduce: ring`, or
/// `all_reduce: {name: ring, segments: 4}`.
struct EntryChoice {
  std::string name;
  Settings settings = {};
};

/// The options of a part. Each is declared once, with the member that holds it; the member's
/// initial value is the default. The one declaration lists the options, reads them from settings
/// and checks these; the program makes its own options and a record's command of it
/// (`CommandLine::options`).
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

  /// Each returns the added option, valid until the next `add`: `.flag = "batch"`.
  /// Throws: OptionError for text that is not of the type, or a value out of range.
  Option& add(std::string name, double& value, std::string help, OptionRange range = {});
  Option& add(std::string name, int& value, std::string help, OptionRange range = {});
  Option& add(std::string name, std::int64_t& value, std::string help, OptionRange range = {});
  Option& add(std::string name, std::uint64_t& value, std::string help);
  Option& add(std::string name, bool& value, std::string help);
  Option& add(std::string name, std::string& value, std::string help, const OptionText& text = {});
  /// Texts, separated by commas.
  Option& add(std::string name, std::vector<std::string>& values, std::string help,
              const OptionText& text = {});
  /// `words` are the enumerators' names, in their order, from 0.
  template <class Enum>
    requires std::is_enum_v<Enum>
  Option& add(std::string name, Enum& value, std::string help,
              std::initializer_list<const char*> words) {
    value = static_cast<Enum>(
        choose(std::move(name), static_cast<std::size_t>(value), std::move(help), words));
    return options_.back();
  }
  /// `kind` names the chosen entry in messages: "all-reduce".
  Option& add(std::string name, EntryChoice& value, std::string help, std::string kind);
  /// Numbers, separated by commas: "0.485,0.456,0.406"; the range holds for each.
  Option& add(std::string name, std::vector<double>& values, std::string help,
              OptionRange range = {});
  Option& add(std::string name, std::vector<std::int64_t>& values, std::string help,
              OptionRange range = {});
  /// A sequence of entries: "decode,flip" if none has settings, or a recipe's list, in which each
  /// is a name or a map with its name and its settings. `kind` names one of them in messages.
  Option& add(std::string name, std::vector<EntryChoice>& values, std::string help,
              std::string kind);

  [[nodiscard]] const std::vector<Option>& options() const { return options_; }
  /// An added real number, and where it is kept.
  struct Number {
    std::string name;
    double* value;
    OptionRange range;
  };
  [[nodiscard]] const std::vector<Number>& numbers() const { return numbers_; }
  /// Throws: NotFound for a setting without an option, with the nearest one.
  void expect_all_known() const;

 private:
  std::size_t choose(std::string name, std::size_t value, std::string help,
                     std::span<const char* const> words);
  Option& add_number(std::string name, const char* type, std::string initial, std::string help,
                     const OptionRange& range);
  void check_range(const Option& option, double value, const OptionRange& range) const;
  template <class T, class Read>
  Option& add_numbers(std::string name, const char* type, std::vector<T>& values, std::string help,
                      const OptionRange& range, const Read& read);

  Settings settings_;
  std::vector<Option> options_;
  std::vector<Number> numbers_;
  std::vector<std::string> choices_;  // names of options that have settings below them
};

/// Options with the type's defaults, or with those of the given `options`.
template <class Options>
[[nodiscard]] std::vector<Option> options_of(Options options = Options()) {
  OptionList list;
  options.declare(list);
  return list.options();
}

/// Throws: NotFound for a setting without an option; ValueError.
template <class Options>
[[nodiscard]] Options read_options(const Settings& settings, Options options = Options()) {
  OptionList list(settings);
  options.declare(list);
  list.expect_all_known();
  return options;
}

/// Reads the options that several parts share; ignores the other settings.
/// Throws: ValueError.
template <class Options>
[[nodiscard]] Options read_shared_options(const Settings& settings) {
  OptionList list(settings);
  Options options;
  options.declare(list);
  return options;
}

}  // namespace d5

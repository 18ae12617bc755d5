// SPDX-License-Identifier: Apache-2.0
#include "apps/declared_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string_view>

#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/level0_ops/operator/size_range.hpp"

namespace d5::app {
namespace {

/// Takes a value while the line is parsed, so that a refusal names the option. Of a list that is
/// given in several options each is another part.
CLI::Validator taken_by(const TakeOption& take, const Option& option) {
  return CLI::Validator(
      [take, option, whole = std::make_shared<std::string>()](const std::string& text) {
        try {
          *whole = option.is_list && !whole->empty() ? *whole + "," + text : text;
          const bool is_sizes = option.type == "integers";
          take(option.name,
               is_sizes ? fmt::format("{}", fmt::join(sizes_from(*whole), ",")) : *whole);
          return std::string();
        } catch (const OptionError& error) {
          return error.fault();
        } catch (const ValueError& error) {  // from a list of sizes
          return std::string(error.what());
        }
      },
      "");
}

/// With what holds where the option is not given; of a flag that is usually on, what it turns off.
std::string help_of(const Option& option) {
  if (option.type == "flag") return (option.initial == "true" ? "do not " : "") + option.help;
  return option.initial.empty() ? option.help
                                : fmt::format("{} (default {})", option.help, option.initial);
}

}  // namespace

void add_declared_options(CLI::App& command, const std::vector<Option>& declared,
                          const std::string& group, const TakeOption& take) {
  for (const Option& option : declared) {
    if (option.type == "flag") {
      const bool is_on = option.initial == "true";
      command
          .add_flag_callback(
              option_flag(option),
              [take, name = option.name, is_on] { take(name, is_on ? "false" : "true"); },
              help_of(option))
          ->group(group);
      continue;
    }
    const std::string help = help_of(option);
    auto* added = command.add_option(option_flag(option), help)
                      ->check(taken_by(take, option))
                      ->option_text(option.placeholder)
                      ->group(group);
    if (option.is_list) added->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
}

}  // namespace d5::app

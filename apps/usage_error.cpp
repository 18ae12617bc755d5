// SPDX-License-Identifier: Apache-2.0
#include "apps/usage_error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "apps/left_out_commands.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::app {
namespace {

std::vector<std::string> names_below(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// The option that CLI11's message names: the longest match, because one name may begin another.
/// For a flag the message begins with its name, without dashes.
const CLI::Option* named_in(std::string message, const CLI::App& app) {
  if (!message.starts_with("-")) message = "--" + message;
  const CLI::Option* result = nullptr;
  for (const auto* option : app.get_options()) {
    if (message.find(option->get_name()) == std::string::npos) continue;
    if (result && option->get_name().size() < result->get_name().size()) continue;
    result = option;
  }
  return result;
}

/// Throws: NotFound if a left-out command has this word after those of `place`.
void expect_built(const std::string& word, const CLI::App& place) {
  std::string name = word;
  for (const auto* above = &place; above->get_parent(); above = above->get_parent()) {
    name = above->get_name() + "_" + name;
  }
  for (const auto& [left_out, building, option] : left_out_commands()) {
    if (left_out != name && !left_out.starts_with(name + "_")) continue;
    throw NotFound(fmt::format(
        "command '{}' is a part of {}, which this d5 was built without; cmake -D{}=ON builds it",
        printable(word), building, option));
  }
}

/// Reports an unexpected word. Throws: NotFound.
std::string explain_word(const std::string& word, const CLI::App& place) {
  if (word.starts_with("-")) {
    const std::string name = word.substr(0, word.find('='));
    const auto known = options_of(place);
    if (std::ranges::find(known, name) == known.end()) throw_unknown_name("option", name, known);
    return fmt::format("{} stands before the command; expected after '{}'", name, full_name(place));
  }
  if (const auto known = names_below(place); !known.empty()) {
    expect_built(word, place);
    throw_unknown_name("command", word, known);
  }
  const bool of_case = word.find_first_not_of("0123456789x") == std::string::npos ||
                       word.find('=') != std::string::npos;
  return fmt::format("unexpected word '{}'{}", printable(word),
                     of_case ? "; a case of several words stands in quotes: \"Gemm 2x3 3x4\"" : "");
}

std::string explain_option(const CLI::ParseError& error, const CLI::Option& option) {
  const std::string name = option.get_name();
  const std::size_t given = option.results().size();
  if (option.get_items_expected_max() == 0) return name + " takes no value";
  if (given > 1) return fmt::format("{} is given {} times, expected once", name, given);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error)) {
    return fmt::format("{} needs a value: {} {}", name, name, option.get_option_text());
  }
  return error.what();
}

bool asks_for_help(const CLI::ParseError& error) { return error.get_exit_code() == 0; }

std::string explain_in(const CLI::ParseError& error, const CLI::App& app, const CLI::App& place) {
  const bool required = dynamic_cast<const CLI::RequiredError*>(&error);
  if (required || dynamic_cast<const CLI::ExtrasError*>(&error) || asks_for_help(error)) {
    const auto rest = app.remaining(true);
    if (!rest.empty()) return explain_word(rest.front(), place);
    if (const auto commands = names_below(place); !commands.empty()) {
      return fmt::format("{} needs a command: {}", full_name(place), fmt::join(commands, ", "));
    }
    return error.what();
  }
  if (dynamic_cast<const CLI::ValidationError*>(&error)) return error.what();
  const CLI::Option* option = named_in(error.what(), place);
  return option ? explain_option(error, *option) : error.what();
}

}  // namespace

std::string full_name(const CLI::App& app) {
  return app.get_parent() ? full_name(*app.get_parent()) + " " + app.get_name() : "d5";
}

const CLI::App& deepest(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : deepest(*parsed.front());
}

bool is_answered(const CLI::ParseError& error, const CLI::App& app) {
  const bool is_command = names_below(deepest(app)).empty() || app.remaining(true).empty();
  return asks_for_help(error) && is_command;
}

std::string explain(const CLI::ParseError& error, const CLI::App& app) {
  const CLI::App& place = deepest(app);
  const std::string help = fmt::format("; see '{} --help'", full_name(place));
  try {
    return explain_in(error, app, place) + help;
  } catch (const NotFound& unknown) {
    return unknown.what() + help;
  }
}

}  // namespace d5::app

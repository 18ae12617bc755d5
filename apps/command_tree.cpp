// SPDX-License-Identifier: Apache-2.0
#include "apps/command_tree.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

namespace d5::app {
namespace {

/// The literal choices in an option's text: "cpu" of "cpu|cuda:N|...".
std::vector<std::string> choices_in(const std::string& value) {
  std::vector<std::string> choices;
  if (value.find('|') == std::string::npos) return choices;
  std::istringstream stream(value);
  for (std::string word; std::getline(stream, word, '|');) {
    const bool itself =
        !word.empty() &&
        word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_") == std::string::npos;
    if (itself) choices.push_back(word);
  }
  return choices;
}

OptionWords words_of(const CLI::Option& option) {
  OptionWords words;
  words.is_positional = option.get_positional();
  words.name = words.is_positional           ? option.get_name(true)
               : option.get_lnames().empty() ? "-" + option.get_snames().front()
                                             : "--" + option.get_lnames().front();
  const bool takes_value = option.get_items_expected_max() > 0;
  if (takes_value) {
    words.value = option.get_option_text().empty() ? "VALUE" : option.get_option_text();
  }
  words.help = option.get_description();
  words.group = option.get_group();
  words.choices = choices_in(words.value);
  words.is_required = option.get_required();
  words.is_repeated = option.get_expected_max() > 1;
  return words;
}

void add(const CLI::App& app, const std::string& path, std::vector<CommandWords>& commands) {
  CommandWords words{.path = path,
                     .summary = app.get_description(),
                     .footer = app.get_footer(),
                     .options = {},
                     .children = {}};
  for (const auto* option : app.get_options()) words.options.push_back(words_of(*option));
  const auto children = app.get_subcommands([](const CLI::App*) { return true; });
  for (const auto* child : children) words.children.push_back(child->get_name());
  commands.push_back(std::move(words));
  for (const auto* child : children) {
    add(*child, path.empty() ? child->get_name() : path + " " + child->get_name(), commands);
  }
}

}  // namespace

std::vector<CommandWords> commands_of(const CLI::App& program) {
  std::vector<CommandWords> commands;
  add(program, "", commands);
  return commands;
}

}  // namespace d5::app

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>

#include "apps/command_tree.hpp"
#include "apps/listed_kinds.hpp"
#include "apps/program.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/core/measuring/metric.hpp"
#include "d5/level1_network/graph/transform.hpp"
#include "d5/level1_network/source/models.hpp"
#include "d5/level2_training/data/dataset.hpp"
#include "d5/level2_training/losses/loss.hpp"
#include "d5/level2_training/training/recipe.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"

namespace d5::command {
namespace {

using app::CommandWords;
using app::OptionWords;
using Commands = std::vector<CommandWords>;

constexpr const char* kCompletionExamples =
    R"(  source <(d5 completion bash)               this shell; put it into ~/.bashrc for all shells
  d5 completion zsh > "${fpath[1]}/_d5"
  d5 completion fish > ~/.config/fish/completions/d5.fish

An installed d5 brings all three.)";

/// Quotes text with single quotes for any shell. Shells escape apostrophes differently, so an
/// apostrophe becomes a typographic one.
std::string quoted(std::string text) {
  for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos;) {
    text.replace(at, 1, "’");
  }
  return "'" + text + "'";
}

template <class T>
std::vector<std::string> names_in(Registry<T>& (*registry)()) {
  return registry().names();
}

/// Frameworks are not loaded for these.
std::vector<std::string> framework_names() {
  std::vector<std::string> names{"all", "auto"};
  for (const auto& info : frameworks()) names.push_back(info.name);
  return names;
}

app::CarriedValues all_carried_values() {
  app::CarriedValues values = {
      {"RECIPE", [] { return carried_recipes(); }},
      {"MODEL", [] { return names_in(models); }},
      {"DATASET", [] { return names_in(datasets); }},
      {"--dataset", [] { return names_in(datasets); }},
      {"--framework", framework_names},
      {"--transform", [] { return names_in(transforms); }},
      {"--metrics", [] { return names_in(metrics); }},
      {"--distributed", [] { return names_in(distributed_optimizers); }},
      {"--loss", [] { return names_in(losses); }},
  };
  app::carry_evaluation(values);
  return values;
}

/// The names that d5 carries for an option or a positional word of this name. The option may take
/// other values, too, such as files.
std::vector<std::string> carried_values(const std::string& name) {
  static const app::CarriedValues kValues = all_carried_values();
  const auto place = kValues.find(name);
  return place == kValues.end() ? std::vector<std::string>() : place->second();
}

/// The command tree, with the names that d5 carries added to the choices.
Commands with_carried_values(Commands commands) {
  for (auto& command : commands) {
    for (auto& option : command.options) {
      std::ranges::move(carried_values(option.name), std::back_inserter(option.choices));
    }
  }
  return commands;
}

/// The words that may follow a command: its sub-commands, its positional choices, its options.
std::vector<std::string> command_names(const CommandWords& command) {
  std::vector<std::string> names = command.children;
  for (const auto& option : command.options) {
    if (option.is_positional) {
      names.insert(names.end(), option.choices.begin(), option.choices.end());
    } else {
      names.push_back(option.name);
    }
  }
  return names;
}

/// Options with choices. An option has the same choices in every command that has it.
std::map<std::string, std::vector<std::string>> choices_of(const Commands& commands) {
  std::map<std::string, std::vector<std::string>> choices;
  for (const auto& command : commands) {
    for (const auto& option : command.options) {
      if (option.is_positional || option.choices.empty()) continue;
      choices[option.name] = option.choices;
    }
  }
  return choices;
}

const std::string& summary_of(const Commands& commands, const std::string& path) {
  return std::ranges::find(commands, path, &CommandWords::path)->summary;
}

std::string below(const std::string& path, const std::string& child) {
  return path.empty() ? child : path + " " + child;
}

/// Patterns of a `case` on "$path $word" that match commands.
std::string path_patterns(const Commands& commands) {
  std::vector<std::string> patterns;
  for (const auto& command : commands) {
    if (!command.path.empty()) patterns.push_back(quoted(" " + command.path));
  }
  return fmt::format("{}", fmt::join(patterns, "|"));
}

std::string bash(const Commands& commands) {
  std::string text = R"(# bash completion for d5
_d5() {
  local current="${COMP_WORDS[COMP_CWORD]}" at="" word words=""
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at $word" in
      )" + path_patterns(commands) +
                     R"() at="$at $word" ;;
    esac
  done
  case "${COMP_WORDS[COMP_CWORD-1]}" in
)";
  for (const auto& [option, choices] : choices_of(commands)) {
    text += fmt::format("    {}) words={} ;;\n", option,
                        quoted(fmt::format("{}", fmt::join(choices, " "))));
  }
  text += "    *)\n      case \"$at\" in\n";
  for (const auto& command : commands) {
    text += fmt::format("        {}) words={} ;;\n",
                        quoted(command.path.empty() ? "" : " " + command.path),
                        quoted(fmt::format("{}", fmt::join(command_names(command), " "))));
  }
  return text + R"(      esac ;;
  esac
  local before="${current%"${current##*,}"}" # the part of a list before its last comma
  COMPREPLY=($(compgen -P "$before" -W "$words" -- "${current##*,}"))
}
complete -o default -F _d5 d5
)";
}

/// "name:summary" for zsh, with colons in the name escaped.
std::string described(const std::string& name, const std::string& what) {
  return quoted(name + ":" + what);
}

std::string zsh(const Commands& commands) {
  std::string text = R"(#compdef d5
_d5() {
  local at="" word
  local -a words_here
  for word in ${words[2,CURRENT-1]}; do
    case "$at $word" in
      )" + path_patterns(commands) +
                     R"() at="$at $word" ;;
    esac
  done
  case "${words[CURRENT-1]}" in
)";
  for (const auto& [option, choices] : choices_of(commands)) {
    text += fmt::format("    {}) compset -P '*,'; compadd {}; return ;;\n", option,
                        fmt::join(choices, " "));
  }
  text += "  esac\n  case \"$at\" in\n";
  for (const auto& command : commands) {
    text += fmt::format("    {}) words_here=(\n",
                        quoted(command.path.empty() ? "" : " " + command.path));
    for (const auto& child : command.children) {
      text += "      " + described(child, summary_of(commands, below(command.path, child))) + "\n";
    }
    for (const auto& option : command.options) {
      if (!option.is_positional) {
        text += "      " + described(option.name, option.help) + "\n";
        continue;
      }
      for (const auto& word : option.choices) text += "      " + quoted(word) + "\n";
    }
    text += "    ) ;;\n";
  }
  return text + R"(  esac
  _describe 'd5' words_here || _files
}
if [[ "$funcstack[1]" == "_d5" ]]; then _d5 "$@"; else compdef _d5 d5; fi
)";
}

std::string fish(const Commands& commands) {
  std::vector<std::string> paths;
  for (const auto& command : commands) {
    if (!command.path.empty()) paths.push_back(quoted(command.path));
  }
  std::string text = fmt::format(R"(# fish completion for d5
function __d5_at
    set -l at
    for word in (commandline -opc)[2..-1]
        set -l next (string trim -- "$at $word")
        contains -- $next {}; and set at $next
    end
    test "$at" = "$argv"
end
)",
                                 fmt::join(paths, " "));
  for (const auto& command : commands) {
    const std::string here = "complete -c d5 -n " + quoted("__d5_at " + command.path);
    for (const auto& child : command.children) {
      text += fmt::format("{} -f -a {} -d {}\n", here, child,
                          quoted(summary_of(commands, below(command.path, child))));
    }
    for (const auto& option : command.options) {
      if (option.is_positional && !option.choices.empty()) {
        text += fmt::format("{} -f -a {}\n", here,
                            quoted(fmt::format("{}", fmt::join(option.choices, " "))));
      }
      if (option.is_positional || !option.name.starts_with("--")) continue;
      const std::string value =
          !option.choices.empty()
              ? " -x -a " + quoted(fmt::format("{}", fmt::join(option.choices, " ")))
              : std::string(option.value.empty() ? "" : " -r");
      text += fmt::format("{} -l {}{} -d {}\n", here, option.name.substr(2), value,
                          quoted(option.help));
    }
  }
  return text;
}

using Shell = std::string (*)(const Commands&);

}  // namespace

void register_completion(app::Program& program) {
  static constexpr std::pair<const char*, Shell> kShells[] = {
      {"bash", bash}, {"zsh", zsh}, {"fish", fish}};
  auto shell = std::make_shared<Shell>();
  auto& command = program.add("completion", "print a shell's completion script",
                              kCompletionExamples, [&program, shell] {
                                const Commands all = app::commands_of(program.tree());
                                fmt::print("{}", (*shell)(with_carried_values(all)));
                                return app::kPassed;
                              });
  std::map<std::string, Shell> shells(std::begin(kShells), std::end(kShells));
  command
      .add_option_function<std::string>(
          "SHELL", [shells, shell](const std::string& name) { *shell = shells.at(name); },
          "shell: bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember(std::vector<std::string>{"bash", "zsh", "fish"}))
      ->option_text("bash|zsh|fish");
}

}  // namespace d5::command

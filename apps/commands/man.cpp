// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <set>
#include <sstream>

#include "apps/command_tree.hpp"
#include "apps/program.hpp"
#include "d5/version.hpp"

namespace d5::command {
namespace {

using app::CommandWords;
using app::OptionWords;

constexpr const char* kManExamples =
    R"(  d5 man | man -l -                          the manual of all commands, made from their help
  d5 man > d5.1)";

/// Escapes text for troff, so that no word of it is a request or an escape.
std::string roff(const std::string& text) {
  std::string result;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";  // troff prints a bare one as a hyphen
    } else {
      result += c;
    }
    line_begins = c == '\n';
  }
  return result;
}

/// Lines that troff does not fill.
std::string verbatim(const std::string& text) { return ".nf\n" + roff(text) + "\n.fi\n"; }

std::string entry(const OptionWords& option) {
  const std::string value =
      option.value.empty() || option.is_positional ? "" : " \\fI" + roff(option.value) + "\\fR";
  return ".TP\n\\fB" + roff(option.name) + "\\fR" + value + "\n" + roff(option.help) + "\n";
}

std::string synopsis(const CommandWords& command) {
  std::string line = ".SS d5 " + command.path;
  for (const auto& option : command.options) {
    if (!option.is_positional) continue;
    const std::string name = option.name + (option.is_repeated ? "..." : "");
    line += option.is_required ? " " + name : " [" + name + "]";
  }
  return line + "\n";
}

bool is_own(const OptionWords& option) { return option.group == "Options" || option.is_positional; }

std::string section(const CommandWords& command) {
  std::string text = synopsis(command) + roff(command.summary) + ".\n";
  for (const auto& option : command.options) {
    if (is_own(option) && option.name != "--help") text += entry(option);
  }
  if (!command.footer.empty()) text += ".PP\n" + verbatim(command.footer);
  return text;
}

/// Options of the groups that several commands share, each once.
std::string shared_options(const std::vector<CommandWords>& commands) {
  std::string text;
  std::set<std::string> groups;
  for (const auto& command : commands) {
    for (const auto& first : command.options) {
      if (is_own(first) || !groups.insert(first.group).second) continue;
      text += ".SS " + first.group + "\n";
      std::set<std::string> seen;
      for (const auto& each : commands) {
        for (const auto& option : each.options) {
          if (option.group == first.group && seen.insert(option.name).second) text += entry(option);
        }
      }
    }
  }
  return text;
}

int run_man(const app::Program& program) {
  const auto commands = app::commands_of(program.tree());
  const CommandWords& top = commands.front();
  std::string text = ".TH D5 1 \"\" \"d5 " D5_VERSION "\" \"User Commands\"\n.SH NAME\n" +
                     std::string("d5 \\- ") + roff(top.summary.substr(top.summary.find(": ") + 2)) +
                     "\n.SH SYNOPSIS\n.B d5\n\\fICOMMAND\\fR [\\fIWORDS\\fR] [\\fIOPTIONS\\fR]\n" +
                     ".SH DESCRIPTION\n" + verbatim(top.footer) + ".SH COMMANDS\n";
  for (const auto& command : commands) {
    if (!command.path.empty() && command.children.empty()) text += section(command);
  }
  text += ".SH OPTIONS\nThe same in every command that has them.\n" + shared_options(commands);
  fmt::print("{}", text);
  return app::kPassed;
}

}  // namespace

void register_man(app::Program& program) {
  program.add("man", "print d5's manual page", kManExamples,
              [&program] { return run_man(program); });
}

}  // namespace d5::command

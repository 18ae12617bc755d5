// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace d5::app {

/// What the program's commands take, as their help says it: for completion and the manual.
struct OptionWords {
  std::string name;   ///< "--format"; "CASE" where `is_positional`
  std::string value;  ///< "table|json|csv", "FILE.json"; empty for a flag
  std::string help;
  std::string group;                 ///< "Options", "Common options", "Measuring", ...
  std::vector<std::string> choices;  ///< of a value that is one of some words
  bool is_positional = false, is_required = false, is_repeated = false;
};

struct CommandWords {
  std::string path;  ///< "op check"; empty for the program itself
  std::string summary;
  std::string footer;  ///< examples, and what else ends the help
  std::vector<OptionWords> options;
  std::vector<std::string> children;  ///< names of the commands below
};

/// The program first, then every command, each before those below it.
[[nodiscard]] std::vector<CommandWords> commands_of(const CLI::App& program);

}  // namespace d5::app

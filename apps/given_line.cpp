// SPDX-License-Identifier: Apache-2.0
#include "apps/given_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "apps/aside_options.hpp"
#include "apps/usage_error.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/level3_distributed/launching/rank_launch.hpp"
#include "d5/level3_distributed/schemes/distributed_training.hpp"

namespace d5::app {
namespace {

struct Given {
  std::vector<std::string> words;
  const CLI::App* command = nullptr;
};
Given& given() {
  static Given given;
  return given;
}

/// An option without a group is hidden: d5 gives it to processes that it starts.
bool is_kept(const CLI::App& command, const CLI::Option& option) {
  return !option.get_group().empty() && !is_aside(full_name(command), option.get_name());
}

bool was_given(const CLI::App& command, const std::string& name) {
  const CLI::Option* option = command.get_option_no_throw(name);
  return option && option->count() > 0;
}

/// Whether the ranks were started by a launcher of the user's.
bool is_launched_from_outside(const CLI::App& command) {
  return is_launched() && !was_given(command, "--ranks");
}

/// Whether the option is `add_threads_option`'s own.
bool lacks_threads(const CLI::App& command) {
  const CLI::Option* option = command.get_option_no_throw("--threads");
  return option && option->count() == 0 && option->get_group() == "Common options";
}

}  // namespace

void keep_given_words(std::vector<std::string> words, const CLI::App& command) {
  given() = {std::move(words), &command};
}

std::string given_line() {
  const auto& [words, command] = given();
  CommandLine line;
  bool is_option = true;
  for (auto word = words.begin(); word != words.end(); ++word) {
    is_option = is_option && *word != "--";
    const std::size_t equals = word->find('=');
    const auto* option = is_option && word->starts_with("--")
                             ? command->get_option_no_throw(word->substr(0, equals))
                             : nullptr;
    if (!option || is_kept(*command, *option)) {
      line.word(*word);
    } else if (equals == std::string::npos && option->get_items_expected_max() > 0) {
      ++word;  // its value
    }
  }
  if (lacks_threads(*command)) line.option("--threads", threads());
  return (is_launched_from_outside(*command) ? own_launcher() : "") + "d5" + line.text();
}

}  // namespace d5::app

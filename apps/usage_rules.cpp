// SPDX-License-Identifier: Apache-2.0
#include "apps/usage_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "apps/options.hpp"
#include "apps/usage_error.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/collectives/collective_kind.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/schemes/rank_check.hpp"

namespace d5::app {
namespace {

/// Refuses one file for two options: the one written last would be all that is left.
void refuse_one_file_twice(const CLI::App& command) {
  std::map<std::string, std::string> writers;  // by file
  for (const std::string name : {"--out", kTraceOption, "--checkpoint", "--save", "--graph"}) {
    const CLI::Option* option = command.get_option_no_throw(name);
    if (!option || option->count() == 0) continue;
    std::error_code ignored;
    const auto given = option->as<std::string>();
    const auto file =
        std::filesystem::weakly_canonical(std::filesystem::absolute(given, ignored), ignored)
            .string();
    const auto [place, fresh] = writers.emplace(file, name);
    if (fresh || file.starts_with("/dev/")) continue;
    throw ValueError(fmt::format("{} and {} are both '{}'; give each a file of its own",
                                 place->second, name, printable(given)));
  }
}

/// Commands that run on several ranks.
std::vector<std::string> commands_on_ranks() {
  std::vector<std::string> names{"d5 train", "d5 predict", "d5 overlap map", "d5 overlap search"};
  for (const auto& kind : collective_kinds()) {
    for (const std::string verb : {"check", "bench"})
      names.push_back("d5 " + kind.word + " " + verb);
  }
  names.emplace_back("d5 profile");
  return names;
}

/// The given options and their values. A recipe file's name is left out: recipes are compared by
/// their values when they are read.
std::map<std::string, std::string> given_options(const CLI::App& command) {
  std::map<std::string, std::string> given{{"command", full_name(command)}};
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || name == "RECIPE") continue;
    const bool is_flag = option->get_items_expected_max() == 0;
    given[name] = is_flag ? "given" : fmt::format("{}", fmt::join(option->results(), " "));
  }
  return given;
}

/// Refuses several ranks for a command that does not divide its work: each would do all of it, in
/// the others' way. Also refuses different options on ranks, which would wait for each other for
/// ever.
void check_ranks(const CLI::App& command) {
  const bool runs = command.get_option_no_throw(kTraceOption);
  const std::string name = full_name(command);
  const auto on_ranks = commands_on_ranks();
  const bool divides = std::ranges::find(on_ranks, name) != on_ranks.end();
  if (!runs || world()->size() == 1) return;
  if (divides) return expect_same_start(given_options(command), *world());
  throw ValueError(fmt::format("'{}' is of one process, and this is one of {}; {} run on several",
                               name, world()->size(), fmt::join(on_ranks, ", ")));
}

}  // namespace

void refuse_values_of_flags(CLI::App& app) {
  for (auto* option : app.get_options()) {
    if (option->get_items_expected_max() == 0) option->disable_flag_override();
  }
  for (auto* command : app.get_subcommands([](CLI::App*) { return true; })) {
    refuse_values_of_flags(*command);
  }
}

void check_usage(const CLI::App& command) {
  refuse_one_file_twice(command);
  check_ranks(command);
}

}  // namespace d5::app

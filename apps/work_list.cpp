// SPDX-License-Identifier: Apache-2.0
#include "apps/work_list.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <regex>

#include "apps/publish.hpp"
#include "apps/work_run.hpp"
#include "d5/core/error.hpp"
#include "d5/core/measure.hpp"

namespace d5::app {
namespace {

/// "op bench"
std::string words_of(const CLI::App& command) {
  return command.get_parent()->get_name() + " " + command.get_name();
}

/// What all pieces have in common: the options of the line that change results, and the machine.
std::string how(const CLI::App& command) {
  std::string line = words_of(command);
  for (const CLI::Option* option : command.get_options()) {
    const bool changes_nothing = option->get_positional() || option->get_group() == kManyGroup ||
                                 option->check_lname("out") || option->check_lname("format") ||
                                 option->check_lname("quiet") || option->check_lname("pivot");
    if (changes_nothing || option->count() == 0) continue;
    line += " " + option->get_name();
    for (const auto& value : option->results()) line += " " + value;
  }
  const Environment machine = environment();
  return fmt::format("{}; {}, {}, d5 {}", line, machine.hostname, machine.cpu,
                     machine.source_commit);
}

std::vector<Work> filtered(const std::vector<Work>& work, const std::string& filter) {
  std::vector<Work> chosen;
  try {
    const std::regex pattern(filter);
    std::ranges::copy_if(work, std::back_inserter(chosen),
                         [&](const Work& one) { return std::regex_search(name_of(one), pattern); });
  } catch (const std::regex_error& error) {
    throw ValueError(
        fmt::format("--filter '{}' is no regular expression: {}", printable(filter), error.what()));
  }
  if (chosen.empty()) {
    throw ValueError(fmt::format("--filter '{}' fits none of {}; --list names them",
                                 printable(filter), work.size()));
  }
  return chosen;
}

}  // namespace

const std::string& name_of(const Work& work) {
  return work.name.empty() ? work.record.subject : work.name;
}

void add_work_options(CLI::App& command, WorkOptions& options) {
  options.command = &command;
  command.add_flag("--list", options.list, "name what would run, and stop")->group(kManyGroup);
  command.add_flag("--dry-run", options.dry_run, "plan what would run, and stop")
      ->group(kManyGroup);
  command.add_option("--filter", options.filter, "only those whose names it is found in")
      ->option_text("REGEX")
      ->group(kManyGroup);
  command
      .add_flag(
          "--resume", options.resume,
          "measure only what --out does not hold yet, with the same options: a run that was cut "
          "short, or cases that were added")
      ->group(kManyGroup);
}

std::vector<Measurement> check_each(
    const std::vector<std::string>& frameworks, const Measurement& record,
    const std::function<void()>& sampled,
    const std::function<void(const std::string& framework, std::vector<Measurement>&)>& check) {
  std::vector<Measurement> results;
  const auto add_failure = [&](const std::string& framework) {  // of what is being thrown
    Measurement& failed = results.emplace_back(record);
    failed.framework = framework;
    record_failure(failed, std::current_exception());
  };
  try {
    for (const auto& framework : frameworks) {
      try {
        check(framework, results);
      } catch (const std::exception& error) {
        if (frameworks.size() == 1 || detail::is_bad_input(error)) throw;
        add_failure(framework);
      } catch (...) {
        if (frameworks.size() == 1) throw;
        add_failure(framework);
      }
      sampled();
    }
  } catch (const Interrupted&) {  // what was checked before stands
  }
  return results;
}

int run_work(const std::vector<Work>& work, const WorkOptions& options,
             const OutputOptions& output) {
  if (options.resume && output.out.empty()) {
    throw ValueError("--resume needs --out FILE.json, the results that it goes on with");
  }
  if ((options.list || options.dry_run) && !output.out.empty()) {
    throw ValueError("--list and --dry-run measure nothing, and there is nothing for --out");
  }
  const auto chosen = options.filter.empty() ? work : filtered(work, options.filter);
  if (options.list) {
    TextTable names({"name"});
    for (const auto& one : chosen) names.add({name_of(one)});
    print(names, output.format);
    return 0;
  }
  WorkRun run(chosen, output);
  if (options.dry_run) {
    run.plan();
    return run.finish(true);
  }
  using enum ResultJournal::Begin;
  if (!output.out.empty()) {
    run.open_journal(how(*options.command), options.resume ? resumed : anew);
  }
  return run.finish(run.go(words_of(*options.command)));
}

}  // namespace d5::app

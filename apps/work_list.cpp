// SPDX-License-Identifier: Apache-2.0
#include "apps/work_list.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "apps/aside_options.hpp"
#include "apps/ctrl_c.hpp"
#include "apps/kept_results.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/say.hpp"
#include "apps/usage_error.hpp"
#include "apps/work_rows.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::app {
namespace {

/// "op bench"
std::string subcommand_words(const CLI::App& command) {
  return command.get_parent()->get_name() + " " + command.get_name();
}

/// The options of the command line that change results, which all pieces share.
std::string how(const CLI::App& command) {
  std::string line = subcommand_words(command);
  for (const CLI::Option* option : command.get_options()) {
    const bool changes_nothing = option->get_positional() || option->get_group() == kManyGroup ||
                                 is_aside(full_name(command), option->get_name());
    if (changes_nothing || option->count() == 0) continue;
    line += " " + option->get_name();
    for (const auto& value : option->results()) line += " " + value;
  }
  return line;
}

void say_nothing_is_left(const OutputOptions& output) {
  if (output.quiet) return;
  say(fmt::format(
      "note: '{}' has them all, nothing is left to measure; to measure again, leave out --resume",
      printable(output.out)));
}

void print_summary(const std::function<TextTable(const Results&)>& summary, const Results& results,
                   const OutputOptions& output) {
  if (!is_for_people(output.format) || !output.pivot.empty()) return;
  const TextTable table = summary(results);
  if (table.size() == 0) return;
  print("\n", output.format);
  print(table, output.format);
}

/// Says how to continue after a signal, if there is more than one piece.
void say_how_to_go_on(const OutputOptions& output) {
  if (output.quiet) return;
  say(output.out.empty() ? "interrupted; with --out FILE.json finished pieces are kept, and "
                           "--resume continues from there"
                         : "interrupted; the same command with --resume continues from here");
}

}  // namespace

void add_list_options(CLI::App& command, ListOptions& options) {
  options.command = &command;
  command.add_flag("--list", options.list, "print the names of what would run, and stop")
      ->group(kManyGroup);
  command.add_flag("--dry-run", options.dry_run, "plan what would run, and stop")
      ->group(kManyGroup);
  command
      .add_option("--filter", options.filter,
                  "run only those whose names match this regular expression")
      ->option_text("REGEX")
      ->group(kManyGroup);
  command
      .add_flag("--resume", options.resume,
                "skip what --out holds already with the same options: continue a run that was "
                "interrupted, or add cases")
      ->group(kManyGroup);
}

void print_pieces(const std::vector<Results>& pieces, const Results& all,
                  const OutputOptions& output,
                  const std::function<TextTable(const Results&)>& summary) {
  if (!is_for_people(output.format)) return print(all, output);  // with its machine's environment
  WorkRows rows({}, output, WorkRows::Blocks::apart);
  for (const Results& piece : pieces) rows.add(piece.measurements);
  rows.end(all);
  print_summary(summary, all, output);
}

int run_list(const std::vector<WorkPiece>& pieces, const ListOptions& options,
             const OutputOptions& output) {
  if (options.resume && (output.out.empty() || is_only_kept(output.out))) {
    throw ValueError("--resume needs --out FILE.json, whose results it continues");
  }
  if ((options.list || options.dry_run) && !output.out.empty() && !is_only_kept(output.out)) {
    throw ValueError("--list and --dry-run measure nothing, so there is nothing for --out");
  }
  const auto chosen = options.filter.empty() ? pieces : matching(pieces, options.filter);
  if (options.list) {
    TextTable names({"name"});
    for (const auto& one : chosen) names.add({name_of(one)});
    print(names, output.format);
    return kPassed;
  }
  using enum WorkRows::Blocks;
  WorkRows rows(chosen, output, options.summary ? apart : together);
  const auto show = [&](const std::vector<Measurement>& records) { rows.add(records); };
  const WorkDone done = options.dry_run
                            ? plan_work(chosen, show)
                            : run_work(chosen, {.what = subcommand_words(*options.command),
                                                .how = how(*options.command),
                                                .out = output.out,
                                                .resume = options.resume,
                                                .is_kept_elsewhere = options.is_kept_elsewhere,
                                                .interrupt = ctrl_c(),
                                                .on_records = show});
  if (done.was_done) say_nothing_is_left(output);
  if (done.written) say_written(output);
  rows.end(done.results);
  if (options.summary) print_summary(options.summary, done.results, output);
  if (done.unwritten) {
    if (!options.is_kept_elsewhere) keep_unwritten(done.results, output);
    std::rethrow_exception(done.unwritten);
  }
  if (!done.whole && chosen.size() > 1 && interrupted()) say_how_to_go_on(output);
  if (done.bad_input) return kBadUsage;
  return exit_status(done.results.measurements, output.if_unsupported);
}

}  // namespace d5::app

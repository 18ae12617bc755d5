// SPDX-License-Identifier: Apache-2.0
#include "apps/work_list.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <optional>
#include <regex>

#include "apps/ctrl_c.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/say.hpp"
#include "d5/core/error.hpp"
#include "d5/core/measure.hpp"
#include "d5/core/progress.hpp"
#include "d5/core/result_journal.hpp"
#include "d5/core/result_printer.hpp"
#include "d5/level1_network/network_profile.hpp"

namespace d5::app {
namespace {

constexpr const char* kGroup = "Many at once";

/// "op bench"
std::string words_of(const CLI::App& command) {
  return command.get_parent()->get_name() + " " + command.get_name();
}

/// What all pieces have in common: the options of the line that change results, and the machine.
std::string how(const CLI::App& command) {
  std::string line = words_of(command);
  for (const CLI::Option* option : command.get_options()) {
    const bool changes_nothing = option->get_positional() || option->get_group() == kGroup ||
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
    std::ranges::copy_if(work, std::back_inserter(chosen), [&](const Work& one) {
      return std::regex_search(one.record.subject, pattern);
    });
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

std::vector<std::string> subjects_of(const std::vector<Work>& work) {
  std::vector<std::string> subjects;
  for (const auto& one : work) subjects.push_back(one.record.subject);
  return subjects;
}

/// Subjects; one that comes again is numbered.
std::vector<std::string> names_of(const std::vector<Work>& work) {
  std::map<std::string, int> seen;
  std::vector<std::string> names;
  for (const auto& one : work) {
    const int times = ++seen[one.record.subject];
    names.push_back(times == 1 ? one.record.subject
                               : fmt::format("{} #{}", one.record.subject, times));
  }
  return names;
}

/// A run over all pieces, and what it leaves behind.
class WorkRun {
 public:
  WorkRun(const std::vector<Work>& work, const OutputOptions& output)
      : work_(work),
        output_(output),
        printer_(results_.environment, output.format, screen_of(STDOUT_FILENO), subjects_of(work)) {
  }

  /// Opened before the first piece.
  void open_journal(const WorkOptions& options) {
    using enum ResultJournal::Begin;
    if (output_.out.empty()) return;
    results_.run = PiecewiseRun{.how = how(*options.command)};
    journal_.emplace(output_.out, results_.run->how, options.resume ? resumed : anew);
  }

  /// Pieces that the journal has; the others, one after the other. Returns whether all are done.
  bool go(const std::string& what) {
    const auto names = names_of(work_);
    std::int64_t samples = 0;
    for (std::size_t i = 0; i < work_.size(); ++i) {
      if (journal_ && journal_->find(names[i])) continue;
      samples += work_[i].samples;
    }
    Progress progress(what, samples, {.unit = "samples"});
    for (std::size_t i = 0; i < work_.size(); ++i) {
      if (interrupted()) return false;
      if (const auto* done = journal_ ? journal_->find(names[i]) : nullptr) {
        keep_piece(names[i], *done, progress);
        continue;
      }
      progress.note(names[i]);
      progress.begin_piece(work_[i].samples, work_[i].most_seconds);
      auto records = measured(work_[i], progress);
      if (interrupted()) {
        keep(std::move(records), progress);
        return false;
      }
      if (!write(names[i], records, progress)) return false;
    }
    return true;
  }

  void plan() {
    for (const auto& one : work_) keep(records_of(one, [&] { return one.plan(); }));
  }

  int finish(bool whole) {
    using End = ResultJournal::End;
    results_.environment = environment();  // libraries were loaded on the way
    std::exception_ptr unwritten = lost_;
    try {
      if (journal_ && journal_->is_written()) {
        if (whole) say_nothing_is_left();
      } else if (journal_) {
        journal_->finish(results_, whole ? End::whole : End::cut_short);
        say_written(output_);
      }
    } catch (const IoError&) {
      unwritten = std::current_exception();
    }
    if (output_.pivot.empty()) {
      print(printer_.end(results_.environment), output_.format);
    } else {
      print(results_, output_);
    }
    if (unwritten) std::rethrow_exception(unwritten);
    if (bad_input_) return kBadUsage;
    return exit_status(results_.measurements, output_.if_unsupported);
  }

 private:
  void say_nothing_is_left() const {
    if (output_.quiet) return;
    say(
        fmt::format("note: '{}' has them all, nothing is left to measure; to measure them again, "
                    "leave out --resume",
                    printable(output_.out)));
  }

  /// What `run` makes; where there are others, a piece that throws is a failed record and ends
  /// nothing.
  template <class F>
  std::vector<Measurement> records_of(const Work& one, const F& run) {
    std::exception_ptr thrown;
    bool too_large = false;
    try {
      return run();
    } catch (const Interrupted&) {
      throw;
    } catch (const MemoryError&) {
      thrown = std::current_exception();
      too_large = true;
    } catch (const std::exception& error) {
      thrown = std::current_exception();
      bad_input_ = bad_input_ || detail::is_bad_input(error);
    } catch (...) {
      thrown = std::current_exception();
    }
    if (work_.size() == 1) std::rethrow_exception(thrown);
    Measurement failed = one.record;
    record_failure(failed, thrown);
    if (too_large) failed.status = Status::skipped;  // no fault of what is measured
    return {failed};
  }

  std::vector<Measurement> measured(const Work& one, Progress& progress) {
    std::int64_t left = one.samples;
    const auto sampled = [&] {
      if (left > 0) --left, progress.advance();
    };
    std::vector<Measurement> records;
    try {
      records = records_of(one, [&] { return one.run(sampled); });
    } catch (const Interrupted&) {
    }
    if (left > 0) progress.advance(left);
    return records;
  }

  /// A profile has too many records for rows: people get tables of what costs most.
  void print_rows(std::vector<Measurement> records) {
    if (is_for_people(output_.format) && std::ranges::any_of(records, is_profile_record)) {
      print(profile_tables(records, output_.format) + "\n", output_.format);
      std::erase_if(records, is_profile_record);
    }
    print(printer_.add(records), output_.format);
  }

  void keep(std::vector<Measurement> records) {
    if (output_.pivot.empty()) print_rows(records);
    auto& all = results_.measurements;
    all.insert(all.end(), std::make_move_iterator(records.begin()),
               std::make_move_iterator(records.end()));
  }
  void keep(std::vector<Measurement> records, Progress& progress) {
    progress.hide();
    keep(std::move(records));
  }

  /// Of one that is done.
  void keep_piece(const std::string& name, std::vector<Measurement> records, Progress& progress) {
    if (results_.run) results_.run->pieces.push_back({name, records.size()});
    keep(std::move(records), progress);
  }

  /// On the disk first. False if there is no room: what comes next would be lost.
  bool write(const std::string& name, std::vector<Measurement> records, Progress& progress) {
    try {
      if (journal_) journal_->add(name, records);
    } catch (const IoError&) {
      lost_ = std::current_exception();
    }
    keep_piece(name, std::move(records), progress);
    return !lost_;
  }

  const std::vector<Work>& work_;
  const OutputOptions& output_;
  Results results_{environment(), {}};
  ResultPrinter printer_;
  std::optional<ResultJournal> journal_;
  std::exception_ptr lost_;
  bool bad_input_ = false;
};

}  // namespace

void add_work_options(CLI::App& command, WorkOptions& options) {
  options.command = &command;
  command.add_flag("--list", options.list, "name what would run, and stop")->group(kGroup);
  command.add_flag("--dry-run", options.dry_run, "plan what would run, and stop")->group(kGroup);
  command.add_option("--filter", options.filter, "only those whose names it is found in")
      ->option_text("REGEX")
      ->group(kGroup);
  command
      .add_flag(
          "--resume", options.resume,
          "measure only what --out does not hold yet, with the same options: a run that was cut "
          "short, or cases that were added")
      ->group(kGroup);
}

std::vector<Measurement> check_each(
    const std::vector<std::string>& frameworks, const std::function<void()>& sampled,
    const std::function<void(const std::string& framework, std::vector<Measurement>&)>& check) {
  std::vector<Measurement> results;
  try {
    for (const auto& framework : frameworks) {
      check(framework, results);
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
    for (const auto& one : chosen) names.add({one.record.subject});
    print(names, output.format);
    return 0;
  }
  WorkRun run(chosen, output);
  if (options.dry_run) {
    run.plan();
    return run.finish(true);
  }
  run.open_journal(options);
  return run.finish(run.go(words_of(*options.command)));
}

}  // namespace d5::app

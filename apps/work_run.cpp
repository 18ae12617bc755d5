// SPDX-License-Identifier: Apache-2.0
#include "apps/work_run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "apps/ctrl_c.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/say.hpp"
#include "d5/core/error.hpp"
#include "d5/core/measure.hpp"
#include "d5/level1_network/network_profile.hpp"
#include "d5/level1_network/node_comparison.hpp"

namespace d5::app {
namespace {

std::vector<std::string> subjects_of(const std::vector<Work>& work) {
  std::vector<std::string> subjects;
  for (const auto& one : work) subjects.push_back(one.record.subject);
  return subjects;
}

/// One that comes again is numbered.
std::vector<std::string> names_of(const std::vector<Work>& work) {
  std::map<std::string, int> seen;
  std::vector<std::string> names;
  for (const auto& one : work) {
    const std::string& name = name_of(one);
    const int times = ++seen[name];
    names.push_back(times == 1 ? name : fmt::format("{} #{}", name, times));
  }
  return names;
}

}  // namespace

WorkRun::WorkRun(const std::vector<Work>& work, const OutputOptions& output)
    : work_(work),
      output_(output),
      printer_(results_.environment, output.format, screen_of(STDOUT_FILENO), subjects_of(work)) {}

void WorkRun::open_journal(const std::string& how, ResultJournal::Begin begin) {
  results_.run = PiecewiseRun{.how = how};
  journal_.emplace(output_.out, how, begin);
}

bool WorkRun::go(const std::string& what) {
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
      progress.hide();
      keep(std::move(records));
      return false;
    }
    if (!write(names[i], records, progress)) return false;
  }
  return true;
}

void WorkRun::plan() {
  for (const auto& one : work_) keep(records_of(one, [&] { return one.plan(); }));
}

int WorkRun::finish(bool whole) {
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
    if (!only_tables()) print(printer_.end(results_.environment), output_.format);
  } else {
    print(results_, output_);
  }
  if (unwritten) std::rethrow_exception(unwritten);
  if (bad_input_) return kBadUsage;
  return exit_status(results_.measurements, output_.if_unsupported);
}

/// Whether all rows stood in tables of their own (`print_rows`).
bool WorkRun::only_tables() const {
  const auto& all = results_.measurements;
  return is_for_people(output_.format) && !all.empty() &&
         std::ranges::all_of(all, is_node_comparison);
}

void WorkRun::say_nothing_is_left() const {
  if (output_.quiet) return;
  say(
      fmt::format("note: '{}' has them all, nothing is left to measure; to measure them again, "
                  "leave out --resume",
                  printable(output_.out)));
}

/// Of what is being thrown; a single piece throws it on.
Measurement WorkRun::failure_of(const Work& one) const {
  if (work_.size() == 1) throw;
  Measurement failed = one.record;
  record_failure(failed, std::current_exception());
  return failed;
}

std::vector<Measurement> WorkRun::records_of(const Work& one, const Run& run) {
  try {
    return run();
  } catch (const Interrupted&) {
    throw;
  } catch (const MemoryError&) {
    Measurement too_large = failure_of(one);
    too_large.status = Status::skipped;  // no fault of what is measured
    return {too_large};
  } catch (const std::exception& error) {
    bad_input_ = bad_input_ || detail::is_bad_input(error);
    return {failure_of(one)};
  } catch (...) {
    return {failure_of(one)};
  }
}

std::vector<Measurement> WorkRun::measured(const Work& one, Progress& progress) {
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

/// A network's parts have too many records for rows: people get tables of what matters most.
void WorkRun::print_rows(std::vector<Measurement> records) {
  const auto print_parts = [&](const auto& is_part, const auto& tables) {
    if (!is_for_people(output_.format) || std::ranges::none_of(records, is_part)) return;
    print(tables(records, output_.format) + "\n", output_.format);
    std::erase_if(records, is_part);
  };
  print_parts(is_profile_record, profile_tables);
  print_parts(is_node_comparison, node_comparison_tables);
  print(printer_.add(records), output_.format);
}

void WorkRun::keep(std::vector<Measurement> records) {
  if (output_.pivot.empty()) print_rows(records);
  auto& all = results_.measurements;
  all.insert(all.end(), std::make_move_iterator(records.begin()),
             std::make_move_iterator(records.end()));
}

/// Of one that is done.
void WorkRun::keep_piece(const std::string& name, std::vector<Measurement> records,
                         Progress& progress) {
  if (results_.run) results_.run->pieces.push_back({name, records.size()});
  progress.hide();
  keep(std::move(records));
}

/// On the disk first. False if there is no room: what comes next would be lost.
bool WorkRun::write(const std::string& name, std::vector<Measurement> records, Progress& progress) {
  try {
    if (journal_) journal_->add(name, records);
  } catch (const IoError&) {
    lost_ = std::current_exception();
  }
  keep_piece(name, std::move(records), progress);
  return !lost_;
}

}  // namespace d5::app

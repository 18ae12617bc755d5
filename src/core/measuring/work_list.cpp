// SPDX-License-Identifier: Apache-2.0
#include "d5/core/measuring/work_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/measure.hpp"
#include "d5/core/results/result_journal.hpp"
#include "d5/core/screen/progress.hpp"

namespace d5::detail {
namespace {

/// A run over all pieces of work, with journal and results.
class WorkRun {
 public:
  using OnRecords = std::function<void(const std::vector<Measurement>&)>;

  /// `pieces` must outlive it.
  WorkRun(const std::vector<WorkPiece>& pieces, Interrupt interrupt, OnRecords on_records)
      : pieces_(pieces), interrupt_(std::move(interrupt)), on_records_(std::move(on_records)) {}

  /// Opens the journal of stored results, before the first piece. `how`: options that all pieces
  /// share, and the machine.
  void open_journal(const WorkOptions& options, const std::string& how);
  /// Takes pieces from the journal, and runs the others in order. `what` is the title of progress.
  void go(const std::string& what);
  void plan();
  /// Writes the results.
  [[nodiscard]] WorkDone finish();

 private:
  using Run = std::function<std::vector<Measurement>()>;
  [[nodiscard]] bool go_on(const std::vector<std::string>& names);
  [[nodiscard]] std::vector<Measurement> records_of(const WorkPiece& one, const Run& run);
  [[nodiscard]] Measurement failure_of(const WorkPiece& one) const;
  [[nodiscard]] std::vector<Measurement> measured(const WorkPiece& one);
  [[nodiscard]] const std::vector<Measurement>* kept(const std::string& name) const;
  [[nodiscard]] bool write(const std::string& name, std::vector<Measurement> records);
  void keep_piece(const std::string& name, std::vector<Measurement> records);
  void keep(std::vector<Measurement> records);

  const std::vector<WorkPiece>& pieces_;
  const Interrupt interrupt_;
  const OnRecords on_records_;
  WorkDone done_{.results = {environment(), {}}};
  std::optional<Progress> progress_;
  std::optional<ResultJournal> journal_;
  bool is_kept_elsewhere_ = false;
};

/// The pieces' names, with numbers for repeated ones.
std::vector<std::string> numbered_names(const std::vector<WorkPiece>& pieces) {
  std::map<std::string, int> seen;
  std::vector<std::string> names;
  for (const auto& one : pieces) {
    const std::string& name = name_of(one);
    const int times = ++seen[name];
    names.push_back(times == 1 ? name : fmt::format("{} #{}", name, times));
  }
  return names;
}

void WorkRun::open_journal(const WorkOptions& options, const std::string& how) {
  using enum ResultJournal::Begin;
  done_.results.run = PiecewiseRun{.how = how};
  journal_.emplace(options.out, how, options.resume ? resumed : anew);
  is_kept_elsewhere_ = options.is_kept_elsewhere;
}

const std::vector<Measurement>* WorkRun::kept(const std::string& name) const {
  return journal_ ? journal_->find(name) : nullptr;
}

void WorkRun::go(const std::string& what) {
  const auto names = numbered_names(pieces_);
  std::int64_t samples = 0;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (!kept(names[i])) samples += pieces_[i].samples;
  }
  if (!what.empty()) progress_.emplace(what, samples, ProgressOptions{.unit = "samples"});
  done_.whole = go_on(names);
  progress_.reset();
}

/// False if an interrupt or a full disk ended it.
bool WorkRun::go_on(const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (interrupt_.due()) return false;
    if (const auto* records = kept(names[i])) {
      keep_piece(names[i], *records);
      continue;
    }
    if (progress_) {
      progress_->note(names[i]);
      progress_->begin_piece(pieces_[i].samples, pieces_[i].most_seconds);
    }
    auto records = measured(pieces_[i]);
    if (interrupt_.due()) {
      if (progress_) progress_->hide();
      keep(std::move(records));
      return false;
    }
    if (!write(names[i], std::move(records))) return false;
  }
  return true;
}

void WorkRun::plan() {
  for (const auto& one : pieces_) {
    keep(records_of(one, [&] {
      if (one.plan) return one.plan();
      Measurement planned = one.record;
      planned.status = Status::skipped;
      planned.reason = "planned, not run";
      return std::vector{planned};
    }));
  }
}

WorkDone WorkRun::finish() {
  using End = ResultJournal::End;
  done_.results.environment = environment();  // including libraries loaded meanwhile
  try {
    if (journal_ && journal_->is_written()) {
      done_.was_done = done_.whole;
    } else if (journal_) {
      journal_->finish(done_.results, done_.whole ? End::whole : End::cut_short);
      done_.written = true;
    }
  } catch (const IoError&) {
    done_.unwritten = std::current_exception();
  }
  return std::move(done_);
}

/// The failed record for the present exception, which a single piece rethrows.
Measurement WorkRun::failure_of(const WorkPiece& one) const {
  if (pieces_.size() == 1) throw;
  Measurement failed = one.record;
  record_failure(failed, std::current_exception());
  return failed;
}

std::vector<Measurement> WorkRun::records_of(const WorkPiece& one, const Run& run) {
  try {
    return run();
  } catch (const Interrupted&) {
    throw;
  } catch (const MemoryError&) {
    Measurement too_large = failure_of(one);
    too_large.status = Status::skipped;  // not the subject's fault
    return {too_large};
  } catch (const std::exception& error) {
    done_.bad_input = done_.bad_input || is_bad_input(error);
    return {failure_of(one)};
  } catch (...) {
    return {failure_of(one)};
  }
}

std::vector<Measurement> WorkRun::measured(const WorkPiece& one) {
  std::int64_t left = one.samples;
  const auto sampled = [&] {
    if (left == 0) return;
    --left;
    if (progress_) progress_->advance();
  };
  std::vector<Measurement> records;
  try {
    records = records_of(one, [&] { return one.run(sampled); });
  } catch (const Interrupted&) {
  }
  if (left > 0 && progress_ && !interrupt_.due()) progress_->advance(left);
  return records;
}

void WorkRun::keep(std::vector<Measurement> records) {
  if (on_records_) on_records_(records);
  auto& all = done_.results.measurements;
  all.insert(all.end(), std::make_move_iterator(records.begin()),
             std::make_move_iterator(records.end()));
}

/// Adds a finished piece.
void WorkRun::keep_piece(const std::string& name, std::vector<Measurement> records) {
  if (done_.results.run) done_.results.run->pieces.push_back({name, records.size()});
  if (progress_) progress_->hide();
  keep(std::move(records));
}

/// Writes records to the disk first. False if the disk is full and later records would be lost.
bool WorkRun::write(const std::string& name, std::vector<Measurement> records) {
  try {
    if (journal_ && !done_.unwritten) journal_->add(name, records);
  } catch (const IoError&) {
    done_.unwritten = std::current_exception();
  }
  keep_piece(name, std::move(records));
  return !done_.unwritten || is_kept_elsewhere_;
}

}  // namespace
}  // namespace d5::detail

namespace d5 {
namespace {

/// A resumed run must have the same options and machine.
std::string here(const std::string& how) {
  const Environment machine = environment();
  return fmt::format("{}; {}, {}, d5 {}", how, machine.hostname, machine.cpu,
                     machine.source_commit);
}

}  // namespace

const std::string& name_of(const WorkPiece& piece) {
  return piece.name.empty() ? piece.record.subject : piece.name;
}

std::vector<WorkPiece> matching(const std::vector<WorkPiece>& pieces,
                                const std::string& expression) {
  std::vector<WorkPiece> chosen;
  try {
    const std::regex pattern(expression);
    std::ranges::copy_if(pieces, std::back_inserter(chosen), [&](const WorkPiece& one) {
      return std::regex_search(name_of(one), pattern);
    });
  } catch (const std::regex_error& error) {
    throw ValueError(fmt::format("{} '{}' is not a regular expression: {}", option_word("filter"),
                                 printable(expression), error.what()));
  }
  if (chosen.empty()) {
    throw ValueError(fmt::format("{} '{}' matches none of {}; {} lists them", option_word("filter"),
                                 printable(expression), pieces.size(), option_word("list")));
  }
  return chosen;
}

WorkDone run_work(const std::vector<WorkPiece>& pieces, const WorkOptions& options) {
  if (options.resume && options.out.empty()) {
    throw ValueError(fmt::format("{} needs {}, the results to resume", option_word("resume"),
                                 option_word("out", "FILE.json")));
  }
  detail::WorkRun run(pieces, options.interrupt, options.on_records);
  if (!options.out.empty()) run.open_journal(options, here(options.how));
  run.go(options.what);
  return run.finish();
}

WorkDone plan_work(const std::vector<WorkPiece>& pieces,
                   const std::function<void(const std::vector<Measurement>&)>& on_records) {
  detail::WorkRun run(pieces, {}, on_records);
  run.plan();
  return run.finish();
}

std::vector<Measurement> check_each(
    const std::vector<std::string>& frameworks, const Measurement& record,
    const std::function<void()>& sampled,
    const std::function<void(const std::string& framework, std::vector<Measurement>&)>& check) {
  std::vector<Measurement> results;
  const auto add_failure = [&](const std::string& framework) {  // for the present exception
    Measurement& failed = results.emplace_back(record);
    failed.framework = framework;
    record_failure(failed, std::current_exception());
  };
  try {
    for (const auto& framework : frameworks) {
      try {
        check(framework, results);
      } catch (const Interrupted&) {
        throw;
      } catch (const std::exception& error) {
        if (frameworks.size() == 1 || detail::is_bad_input(error)) throw;
        add_failure(framework);
      } catch (...) {
        if (frameworks.size() == 1) throw;
        add_failure(framework);
      }
      sampled();
    }
  } catch (const Interrupted&) {  // earlier records are kept
  }
  return results;
}

}  // namespace d5

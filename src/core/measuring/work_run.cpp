// SPDX-License-Identifier: Apache-2.0
#include "core/measuring/work_run.hpp"

#include <fmt/format.h>

#include <iterator>
#include <map>

#include "d5/core/error.hpp"
#include "d5/core/measure.hpp"

namespace d5::detail {
namespace {

/// One that comes again is numbered.
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

}  // namespace

void WorkRun::open_journal(const std::string& out, const std::string& how,
                           ResultJournal::Begin begin) {
  done_.results.run = PiecewiseRun{.how = how};
  journal_.emplace(out, how, begin);
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

/// False where an interrupt, or a full disk, ended it.
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
  for (const auto& one : pieces_) keep(records_of(one, [&] { return one.plan(); }));
}

WorkDone WorkRun::finish() {
  using End = ResultJournal::End;
  done_.results.environment = environment();  // libraries were loaded on the way
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

/// Of what is being thrown; a single piece throws it on.
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
    too_large.status = Status::skipped;  // no fault of what is measured
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

/// Of one that is done.
void WorkRun::keep_piece(const std::string& name, std::vector<Measurement> records) {
  if (done_.results.run) done_.results.run->pieces.push_back({name, records.size()});
  if (progress_) progress_->hide();
  keep(std::move(records));
}

/// On the disk first. False if there is no room: what comes next would be lost.
bool WorkRun::write(const std::string& name, std::vector<Measurement> records) {
  try {
    if (journal_) journal_->add(name, records);
  } catch (const IoError&) {
    done_.unwritten = std::current_exception();
  }
  keep_piece(name, std::move(records));
  return !done_.unwritten;
}

}  // namespace d5::detail

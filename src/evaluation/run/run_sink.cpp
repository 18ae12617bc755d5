// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/run/run_sink.hpp"

#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/results/result_journal.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;

/// Empty if the run cannot be resumed, as for a pipe.
std::string journal_of(const std::string& out) {
  const bool is_kept = !out.empty() && (!fs::exists(out) || fs::is_regular_file(out));
  return is_kept ? ResultJournal::path_beside(out) : "";
}

std::string id_beside(const std::string& journal, bool resume) {
  if (journal.empty()) return new_run_id();
  const std::string beside = journal + ".run";
  if (resume && fs::exists(beside)) return read_file(beside, 100);
  std::string id = new_run_id();
  write_file(beside, id);
  return id;
}

}  // namespace

RunSink::RunSink(EvaluationSink& sink, EvaluationRun run, const std::string& out, bool resume)
    : sink_(sink), run_(std::move(run)), journal_(journal_of(out)) {
  run_.id = id_beside(journal_, resume);
}

void RunSink::end() {
  if (!journal_.empty() && !fs::exists(journal_)) fs::remove(journal_ + ".run");
  if (fault_.empty()) return;
  throw IoError(
      fmt::format("run {} is not whole in the database: {}; a results file has what was "
                  "measured, and 'd5 eval import' adds it",
                  run_.id.substr(0, 8), fault_));
}

/// Keeps the first failure. A piece was measured, whatever becomes of its copy.
void RunSink::give(const std::function<void()>& call) {
  if (!fault_.empty()) return;
  try {
    call();
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    fault_ = error.what();
  }
}

EvaluationSink& RunSink::begun() {
  if (!has_begun_) sink_.evaluation(run_);
  has_begun_ = true;
  return sink_;
}

}  // namespace d5

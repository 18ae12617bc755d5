// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "d5/core/results/environment.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/core/trace/timeline.hpp"

namespace d5 {

struct QueryRecord;   // d5/evaluation/load/query_record.hpp
struct SampleAnswer;  // d5/evaluation/accuracy/sample_answer.hpp

/// One run of an evaluation, or of another command that measures.
struct EvaluationRun {
  std::string id = {};        ///< `new_run_id()`; a resumed run keeps it
  std::string key = {};       ///< key of the evaluation, SHA-256 of `manifest`; empty without one
  std::string manifest = {};  ///< canonical JSON
  std::string command = {};   ///< a line that runs it again
  Environment environment = {};
};

/// A unique id: 32 random hexadecimal digits.
[[nodiscard]] std::string new_run_id();

/// Receives an evaluation's results besides its results file: all queries, all answers, traces. A
/// piece is one cell of the evaluation's matrix, by its name in the `ResultJournal`.
///
///     sink.evaluation(run);
///     for (piece : pieces) {
///       sink.queries(run.id, piece, queries);
///       sink.answers(run.id, piece, answers);
///       sink.measurements(run.id, piece, records);  // last: what says that the piece is done
///     }
///
/// A call is durable when it returns, and has no effect if it throws. A second call for the same
/// run, piece and kind changes nothing, so a caller may repeat a call after a crash.
///
/// Thread safety: one call at a time. Throws: IoError, FormatError.
class EvaluationSink {
 public:
  virtual ~EvaluationSink() = default;

  /// Called once per run, before all others.
  virtual void evaluation(const EvaluationRun& run) = 0;
  virtual void measurements(const std::string& run, const std::string& piece,
                            std::span<const Measurement> records) = 0;
  virtual void queries(const std::string& run, const std::string& piece,
                       std::span<const QueryRecord> records) = 0;
  virtual void answers(const std::string& run, const std::string& piece,
                       std::span<const SampleAnswer> answers) = 0;
  virtual void trace(const std::string& run, const std::string& piece,
                     const Timeline& timeline) = 0;
};

}  // namespace d5

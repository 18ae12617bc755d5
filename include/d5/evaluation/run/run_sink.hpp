// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>

#include "d5/evaluation/database/evaluation_sink.hpp"

namespace d5 {

/// One run of an evaluation, for `EvaluateOptions::sink`. It announces the run to the sink behind
/// it only with the first result, so that resuming a finished run leaves no second one.
///
///     RunSink run(*database, {.key = fixed.key, ...}, how.out, how.resume);
///     how.sink = &run;
///     how.run = run.id();
///     evaluate(fixed, how);
///     run.end();
///
/// A sink that fails costs no measurement: the first failure is kept for `end`, and nothing more is
/// given to it. A resumed run keeps its id, which is stored beside the results file's journal as
/// long as that exists. Thread safety: one call at a time. Throws: IoError.
class RunSink final : public EvaluationSink {
 public:
  /// `sink` outlives it. `out` is the run's results file, or empty; `run` gets its id here.
  RunSink(EvaluationSink& sink, EvaluationRun run, const std::string& out, bool resume);

  [[nodiscard]] const std::string& id() const { return run_.id; }
  /// Whether the sink knows the run.
  [[nodiscard]] bool has_begun() const { return has_begun_; }
  /// Call after the last piece: the results file is complete then, and no run resumes from it.
  /// Throws: IoError with the reason if the sink failed.
  void end();

  void evaluation(const EvaluationRun& run) override {
    give([&] { sink_.evaluation(run); });
  }
  void measurements(const std::string& run, const std::string& piece,
                    std::span<const Measurement> records) override {
    give([&] { begun().measurements(run, piece, records); });
  }
  void queries(const std::string& run, const std::string& piece,
               std::span<const QueryRecord> records) override {
    give([&] { begun().queries(run, piece, records); });
  }
  void answers(const std::string& run, const std::string& piece,
               std::span<const SampleAnswer> answers) override {
    give([&] { begun().answers(run, piece, answers); });
  }
  void trace(const std::string& run, const std::string& piece, const Timeline& timeline) override {
    give([&] { begun().trace(run, piece, timeline); });
  }

 private:
  EvaluationSink& begun();
  void give(const std::function<void()>& call);

  EvaluationSink& sink_;
  EvaluationRun run_;
  std::string journal_;  ///< empty: nothing can be resumed
  bool has_begun_ = false;
  std::string fault_;  ///< why the sink failed; empty: it did not
};

}  // namespace d5

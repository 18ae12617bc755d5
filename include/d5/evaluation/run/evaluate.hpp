// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/measuring/isolation.hpp"
#include "d5/core/measuring/work_list.hpp"
#include "d5/core/results/results.hpp"
#include "d5/evaluation/accuracy/sample_answer.hpp"
#include "d5/evaluation/database/evaluation_sink.hpp"
#include "d5/evaluation/load/query_record.hpp"
#include "d5/evaluation/manifest/dataset_manifest.hpp"
#include "d5/evaluation/manifest/evaluation_manifest.hpp"
#include "d5/evaluation/manifest/framework_manifest.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"
#include "d5/evaluation/manifest/model_manifest.hpp"
#include "d5/evaluation/manifest/system_manifest.hpp"

namespace d5 {

/// A framework of an evaluation.
struct FixedFramework {
  std::string word;                                           ///< a word of `open_predictor`
  std::optional<FoundManifest<FrameworkManifest>> told = {};  ///< if a manifest names it
};

/// An evaluation with all names resolved, and so fixed: equal keys mean equal evaluations.
struct FixedEvaluation {
  EvaluationManifest manifest;
  std::vector<FoundManifest<ModelManifest>> models;
  std::vector<FoundManifest<DatasetManifest>> datasets;  ///< one per model
  std::vector<FixedFramework> frameworks;
  std::vector<FoundManifest<SystemManifest>> systems;
  std::string canonical;  ///< JSON (RFC 8785) of the manifest and of all that it names
  std::string key;        ///< its SHA-256
};

/// Resolves the names in an evaluation. Throws: NotFound, FormatError, ValueError for wrong names,
/// IoError.
[[nodiscard]] FixedEvaluation fix_evaluation(const EvaluationManifest& manifest);
/// The same from `FixedEvaluation::canonical`, on any machine: it contains models, frameworks and
/// systems; data sets are found by name, and must be the same. `file` is for messages. Throws:
/// FormatError for other text; NotFound; ValueError for a data set that differs, and if the key
/// would differ.
[[nodiscard]] FixedEvaluation fixed_evaluation_from(const std::string& canonical,
                                                    const std::string& file);
/// Whether a text has that form.
[[nodiscard]] bool is_fixed_evaluation(const std::string& text);

/// The program's line that runs an evaluation, from its models and the values that are not the
/// usual ones: "d5 eval run lenet --framework torch --scenario server --batch 1 --threads 4".
/// Systems are left out: they limit where it runs.
[[nodiscard]] std::string evaluation_line(const EvaluationManifest& manifest);

struct EvaluateOptions {
  std::string out = {};  ///< results file, with a journal beside it; empty: none
  bool resume = false;   ///< skip what `out` holds
  /// Receives each piece's queries, answers and trace, and then its records; outlives the run. What
  /// it throws fails the piece; a `RunSink` throws nothing.
  EvaluationSink* sink = nullptr;
  /// Id of the run from `EvaluationSink::evaluation`, which the caller sets (`RunSink`).
  std::string run = {};
  bool steps = false;  ///< a record per pipeline step, too: its time, its queue, its waits
  std::string command_options = {};  ///< at the end of every record's command
  double price_per_hour = 0;         ///< price of this machine, if no system's manifest has it
  std::string currency = "USD";      ///< its currency, by ISO 4217
  /// Runs each model and framework in a process of its own, with this time limit per piece: a crash
  /// or a hang is a failed record, and the next piece runs. By default everything runs in this
  /// process.
  Isolation isolation = {};
  Interrupt interrupt = {};
};

/// The pieces of work, one per cell: for each model in each framework its accuracy, then each
/// scenario with each batch size and trace level, repeated as the manifest says. Pieces share what
/// they open, and must run in order. `options` outlive them.
[[nodiscard]] std::vector<WorkPiece> evaluation_work(const FixedEvaluation& evaluation,
                                                     const EvaluateOptions& options = {});

/// Runs the whole evaluation.
///
///     const Results results = evaluate(parse_manifest<EvaluationManifest>(text, "e.yaml"));
///
/// An accuracy below the author's claim is a failed record. Throws: as `fix_evaluation` and
/// `run_work`.
[[nodiscard]] Results evaluate(const EvaluationManifest& manifest,
                               const EvaluateOptions& options = {});
[[nodiscard]] Results evaluate(const FixedEvaluation& evaluation,
                               const EvaluateOptions& options = {});

}  // namespace d5

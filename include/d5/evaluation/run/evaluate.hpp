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
  std::string word;                                           ///< of a predictor
  std::optional<FoundManifest<FrameworkManifest>> told = {};  ///< where a manifest names it
};

/// An evaluation with all that it names found, and so fixed: two with one key ask the same.
struct FixedEvaluation {
  EvaluationManifest manifest;
  std::vector<FoundManifest<ModelManifest>> models;
  std::vector<FoundManifest<DatasetManifest>> datasets;  ///< one a model
  std::vector<FixedFramework> frameworks;
  std::vector<FoundManifest<SystemManifest>> systems;
  std::string canonical;  ///< JSON (RFC 8785) of the manifest and of all that it names
  std::string key;        ///< its SHA-256
};

/// Finds what an evaluation names. Throws: NotFound, FormatError, ValueError for names that are
/// wrong, IoError.
[[nodiscard]] FixedEvaluation fix_evaluation(const EvaluationManifest& manifest);
/// The same from `FixedEvaluation::canonical`, on any machine: models, frameworks and systems are
/// in it; data sets are found by their names, and must be the same. `file` is for messages.
/// Throws: FormatError for what is none; NotFound; ValueError for a data set that is another, and
/// where the key would be another.
[[nodiscard]] FixedEvaluation fixed_evaluation_from(const std::string& canonical,
                                                    const std::string& file);
/// Whether a text is such a canonical one.
[[nodiscard]] bool is_fixed_evaluation(const std::string& text);

struct EvaluateOptions {
  std::string out = {};  ///< results file, with a journal beside it; empty: none
  bool resume = false;   ///< what `out` holds is not run again
  /// Told of each piece's queries, answers and trace, and then of its records; outlives the run.
  EvaluationSink* sink = nullptr;
  std::string run =
      {};              ///< its id there, of `EvaluationSink::evaluation`: the caller's (`RunSink`)
  bool steps = false;  ///< a record a step of the pipeline, too: its time, its queue, who waited
  std::string command_options = {};  ///< at the end of every record's command
  double price_per_hour = 0;         ///< of this machine, where no system's manifest tells it
  /// Each model in each framework in a process of its own, so long at most for each piece: one that
  /// crashes or hangs is a failed record, and the next piece goes on. By default in this process.
  Isolation isolation = {};
  Interrupt interrupt = {};
};

/// A piece of work a cell: of each model in each framework its accuracy, then each scenario with
/// each size of batch and level of trace, as often as the manifest says. They share what they open,
/// and are run in their order. `options` outlive them.
[[nodiscard]] std::vector<WorkPiece> evaluation_work(const FixedEvaluation& evaluation,
                                                     const EvaluateOptions& options = {});

/// Runs all of it.
///
///     const Results results = evaluate(parse_manifest<EvaluationManifest>(text, "e.yaml"));
///
/// An accuracy below what the model's author claims is a failed record. Throws: as `fix_evaluation`
/// and `run_work`.
[[nodiscard]] Results evaluate(const EvaluationManifest& manifest,
                               const EvaluateOptions& options = {});
[[nodiscard]] Results evaluate(const FixedEvaluation& evaluation,
                               const EvaluateOptions& options = {});

}  // namespace d5

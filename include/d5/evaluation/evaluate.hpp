// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/core/interrupt.hpp"
#include "d5/core/results.hpp"
#include "d5/core/work_list.hpp"
#include "d5/evaluation/dataset_manifest.hpp"
#include "d5/evaluation/evaluation_manifest.hpp"
#include "d5/evaluation/evaluation_sink.hpp"
#include "d5/evaluation/manifest_place.hpp"
#include "d5/evaluation/model_manifest.hpp"
#include "d5/evaluation/query_record.hpp"
#include "d5/evaluation/sample_answer.hpp"

namespace d5 {

/// An evaluation with all that it names found, and so fixed: two with one key ask the same.
struct FixedEvaluation {
  EvaluationManifest manifest;
  std::vector<FoundManifest<ModelManifest>> models;
  std::vector<FoundManifest<DatasetManifest>> datasets;  ///< one a model
  std::string canonical;  ///< JSON (RFC 8785) of the manifest and of all that it names
  std::string key;        ///< its SHA-256
};

/// Finds what an evaluation names. Throws: NotFound, FormatError, ValueError for names that are
/// wrong, IoError.
[[nodiscard]] FixedEvaluation fix_evaluation(const EvaluationManifest& manifest);

struct EvaluateOptions {
  std::string out = {};  ///< results file, with a journal beside it; empty: none
  bool resume = false;   ///< what `out` holds is not run again
  /// Told of each piece's queries, answers and trace, and then of its records; outlives the run.
  EvaluationSink* sink = nullptr;
  std::string run = {};  ///< its id there: of `EvaluationSink::evaluation`, which the caller calls
  bool steps = false;    ///< a record a step of the pipeline, too: its time, its queue, who waited
  std::string command_options = {};  ///< at the end of every record's command
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

}  // namespace d5

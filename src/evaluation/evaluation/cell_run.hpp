// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "evaluation/evaluation/evaluated_model.hpp"

namespace d5::detail {

/// One scenario with one batch and one level of trace.
struct Cell {
  EntryChoice scenario;
  std::int64_t batch = 1, repetition = 0;
  std::string trace_level = "none";
};

/// The model under the scenario, asked on this thread. `record` has what all its records share;
/// `piece` is its name for the sink. Throws: what opening throws, and Interrupted.
[[nodiscard]] std::vector<Measurement> run_cell(EvaluatedModel& model,
                                                const EvaluationManifest& manifest,
                                                const Cell& cell, Measurement record,
                                                const EvaluateOptions& options,
                                                const std::string& piece);

/// A record a stage of the pipeline: what a sample took there.
void add_step_records(const Measurement& record, const PipelineReport& report,
                      std::vector<Measurement>& records);

}  // namespace d5::detail

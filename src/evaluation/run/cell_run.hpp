// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/run/evaluated_model.hpp"

namespace d5::detail {

/// One scenario with one batch and one level of trace. Where the scenario itself has a batch, it is
/// the cell's, and not among its settings.
struct Cell {
  EntryChoice scenario;
  std::int64_t batch = 1, repetition = 0;
  std::string trace_level = "none";
};

[[nodiscard]] std::shared_ptr<Scenario> scenario_of(const Cell& cell);

/// Whether a level of trace has what libraries print, which they do from their first call on or
/// never: such cells run in a process of their own.
[[nodiscard]] bool is_of_libraries(const std::string& trace_level);

/// That each of its instances computes with.
[[nodiscard]] int instance_threads(const EvaluationManifest& manifest);

/// Who answers the queries of a scenario: on the thread that asks where none overlap and one
/// instance is all there is, or else on threads of its own. `model` outlives it.
[[nodiscard]] std::unique_ptr<SystemUnderTest> system_of(EvaluatedModel& model,
                                                         const EvaluationManifest& manifest,
                                                         std::int64_t batch,
                                                         const Scenario& scenario);

/// At least, as the manifest says, or else as the scenario needs.
[[nodiscard]] Scenario::Length length_of(const Scenario& scenario,
                                         const EvaluationManifest& manifest);

/// The model under the scenario, which asks on this thread. `record` has what all its records
/// share; `piece` is its name for the sink. Throws: what opening throws, and Interrupted.
[[nodiscard]] std::vector<Measurement> run_cell(EvaluatedModel& model,
                                                const EvaluationManifest& manifest,
                                                const Cell& cell, Measurement record,
                                                const EvaluateOptions& options,
                                                const std::string& piece);

/// A record a stage of the pipeline, what a sample took there; and "pipeline_overlap", the slowest
/// stage's time over that of the run.
void add_step_records(const Measurement& record, const PipelineReport& report,
                      std::vector<Measurement>& records);

}  // namespace d5::detail

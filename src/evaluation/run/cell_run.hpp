// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/run/evaluated_model.hpp"

namespace d5::detail {

/// One scenario with one batch size and one trace level. If the scenario itself has an option
/// `batch`, it takes the cell's, and its settings have none.
struct Cell {
  EntryChoice scenario;
  std::int64_t batch = 1, repetition = 0;
  std::string trace_level = "none";
};

/// The cell's scenario, with the cell's batch size. Throws: as its entry.
[[nodiscard]] std::shared_ptr<Scenario> scenario_of(const Cell& cell);

/// Whether a scenario asks two frameworks in turns.
[[nodiscard]] bool is_paired(const Scenario& scenario);

/// Whether a trace level includes what libraries print, which starts with their first call or
/// never: such cells run in a process of their own.
[[nodiscard]] bool is_of_libraries(const std::string& trace_level);

/// Number of threads of each instance.
[[nodiscard]] int instance_threads(const EvaluationManifest& manifest);

/// The system that answers a scenario's queries: on the calling thread if queries do not overlap
/// and there is one instance, or else on threads of its own. `model` outlives it.
[[nodiscard]] std::unique_ptr<SystemUnderTest> system_of(EvaluatedModel& model,
                                                         const EvaluationManifest& manifest,
                                                         std::int64_t batch,
                                                         const Scenario& scenario);

/// Minimum length, from the manifest or else from the scenario.
[[nodiscard]] Scenario::Length length_of(const Scenario& scenario,
                                         const EvaluationManifest& manifest);

/// Runs the model under the scenario, which asks on this thread. `base`: the same model in the
/// framework that a scenario of pairs asks, too; null for any other scenario. `record` has what all
/// its records share; `piece` is its name for the sink. Throws: what opening throws, and
/// Interrupted.
[[nodiscard]] std::vector<Measurement> run_cell(EvaluatedModel& model, EvaluatedModel* base,
                                                const EvaluationManifest& manifest,
                                                const Cell& cell, Measurement record,
                                                const EvaluateOptions& options,
                                                const std::string& piece);

/// A record per pipeline stage, of a sample's time there; and "pipeline_overlap", the slowest
/// stage's time over that of the run.
void add_step_records(const Measurement& record, const PipelineReport& report,
                      std::vector<Measurement>& records);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#include "level1_network/mixture/measured_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/machine/other_work.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/execution_interrupt.hpp"
#include "level1_network/mixture/disturbed_choice.hpp"
#include "level1_network/mixture/kept_selection.hpp"
#include "level1_network/nodes/structure_digest.hpp"

namespace d5 {
namespace {

using Candidates = std::vector<const OperatorRegistry*>;

/// The candidates of placement rules are the same: all frameworks that can be loaded.
const Candidates& candidates_of(const RunState& state) {
  for (const auto& placed : state.placed) {
    if (!placed.frameworks.candidates.empty()) return placed.frameworks.candidates;
  }
  return state.frameworks.candidates;
}

SelectionPurpose purpose_of(const CompileRequest& request, const RunState& state,
                            const Network& network) {
  std::string words = selection_circumstances();
  for (const auto& [name, desc] : request.fed) {
    words += fmt::format("input {} {}\n", name, to_string(desc));
  }
  for (const auto& [constant, output] : request.updates) {
    words += fmt::format("update {} {}\n", constant, output);
  }
  words += fmt::format("variables {}\n", fmt::join(request.variables, " "));
  words += fmt::format("mode {}, loss {}, outputs {} begin, gradients {}\n",
                       request.mode == Mode::training ? "training" : "inference", request.loss,
                       fmt::join(request.seeds, " "), fmt::join(request.gradients, " "));
  words +=
      fmt::format("{} parameters, recompute {}, device {}, outputs on {}, limit {}\n",
                  request.parameters ? request.parameters->size() : 0,
                  fmt::join(request.recompute, " "), to_string(request.device),
                  request.outputs == OutputPlace::host ? "host" : "device", state.memory_limit);
  for (const auto* framework : state.frameworks.preferred) {
    words += fmt::format("before others {}\n", framework->framework());
  }
  for (const auto& placed : state.placed) words += to_string(placed.rule) + "\n";
  return {structure_digest(network.graph()), words};
}

std::unique_ptr<Plan> with_selection(std::unique_ptr<Plan> plan, FrameworkSelection selection) {
  plan->selection = std::make_shared<FrameworkSelection>(std::move(selection));
  return plan;
}

}  // namespace

std::function<double()> watch_other_work() {
  return [others = detail::OtherWork()] { return others.processors().value_or(0); };
}

bool has_candidates(const RunState& state) { return !candidates_of(state).empty(); }

std::unique_ptr<Plan> measured_plan(const CompileRequest& request, RunState& state,
                                    const ValueMap& inputs, const Network& network,
                                    const EventList& events, const SelectionOptions& options) {
  const Candidates candidates = candidates_of(state);
  const SelectionPurpose purpose = purpose_of(request, state, network);
  KeptSelection kept = standing_selection(purpose, options);
  if (!kept.selection.chosen.empty()) {
    try {
      return with_selection(compile(assigned(request, state, candidates, kept.assignment), state),
                            kept.selection);
    } catch (const Unsupported& error) {
      kept.selection.notes = {
          fmt::format("the cached choice cannot be planned any more: {}", error.what())};
    }
  }
  std::vector<ExecutionEvent*> observers;
  events.collect(observers);
  std::erase_if(observers, [](ExecutionEvent* observer) {
    return !dynamic_cast<ExecutionInterrupt*>(observer);
  });
  const auto others = options.watch_others();
  ChosenPlan chosen = search_mixture(
      {request, state, candidates, inputs, network.value_changes(), options.clock, observers},
      options.most_seconds);
  (void)assigned(request, state, candidates, chosen.assignment);
  KeptSelection found{chosen.assignment, std::move(chosen.selection)};
  found.selection.notes = kept.selection.notes;
  if (!found.selection.chosen.empty()) keep_measured(purpose, kept, others(), found);
  return with_selection(std::move(chosen.plan), std::move(found.selection));
}

PlannedMemory plan_memory_as_kept(const CompileRequest& request, RunState& state,
                                  const Network& network) {
  const KeptSelection kept = kept_selection(purpose_of(request, state, network));
  if (kept.selection.chosen.empty()) return plan_memory(request, state);
  return plan_memory(assigned(request, state, candidates_of(state), kept.assignment), state);
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "core/measuring/turn_clock.hpp"
#include "d5/core/trace/event.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "level1_network/plan/compile.hpp"

namespace d5 {

/// Watches the machine by `detail::OtherWork`; 0 if that is not supported.
[[nodiscard]] std::function<double()> watch_other_work();

/// Options of measuring for "auto".
struct SelectionOptions {
  TurnClock clock = {};
  double most_seconds = 40;  ///< some runs more, where one takes long
  /// Starts watching; the returned function gives the number of processors kept busy by other work
  /// since.
  std::function<std::function<double()>()> watch_others = watch_other_work;
};

/// Whether "auto" is among the frameworks.
[[nodiscard]] bool has_candidates(const RunState& state);

/// The fastest plan of `request`: the cached choice, or one that is measured on `inputs`, then
/// cached. `network`: the network of the request; `events`: observers that may interrupt it.
/// Throws: as `compile`; Interrupted.
[[nodiscard]] std::unique_ptr<Plan> measured_plan(const CompileRequest& request, RunState& state,
                                                  const ValueMap& inputs, const Network& network,
                                                  const EventList& events,
                                                  const SelectionOptions& options);

/// Memory plan that `measured_plan` would lay out for a cached choice; without one, for the first
/// framework wherever it can. Nothing is measured.
[[nodiscard]] PlannedMemory plan_memory_as_kept(const CompileRequest& request, RunState& state,
                                                const Network& network);

}  // namespace d5

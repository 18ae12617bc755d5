// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

namespace d5 {

/// Ends an executor's run between two steps; the run throws Interrupted. The next run is complete,
/// unless it is interrupted too; only random streams have advanced by one run.
///
///     executor->events().add(std::make_shared<ExecutionInterrupt>(Interrupt{stop.token()}));
class ExecutionInterrupt final : public ExecutionEvent {
 public:
  explicit ExecutionInterrupt(Interrupt interrupt) : interrupt_(std::move(interrupt)) {}
  void before_node(const StepInfo&) override { interrupt_.check("network"); }
  void before_nested_node(const StepInfo&) override { interrupt_.check("network"); }

 private:
  Interrupt interrupt_;
};

/// Lets `interrupt` end the runs of `executor` while it lives.
class InterruptibleRuns {
 public:
  InterruptibleRuns(GraphExecutor& executor, const Interrupt& interrupt)
      : events_(executor.events()), event_(std::make_shared<ExecutionInterrupt>(interrupt)) {
    events_.add(event_);
  }
  ~InterruptibleRuns() { events_.remove(event_.get()); }
  InterruptibleRuns(const InterruptibleRuns&) = delete;
  InterruptibleRuns& operator=(const InterruptibleRuns&) = delete;

 private:
  EventList& events_;
  std::shared_ptr<ExecutionInterrupt> event_;
};

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "d5/core/trace/trace.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

namespace d5 {

/// Records an executor's runs and steps as spans of the trace. An executor holds one and adds it to
/// its observers for runs that begin while a trace is on:
///
///     events_.collect(observers_);
///     if (Trace::on()) observers_.push_back(&trace_);
class ExecutionTrace final : public ExecutionEvent {
 public:
  /// `executor` outlives it.
  explicit ExecutionTrace(GraphExecutor& executor) : executor_(executor) {}
  void before_run(Pass pass) override;
  void after_run(Pass pass) override;
  void before_node(const StepInfo& step) override;
  void after_node(const StepInfo& step) override;
  void before_nested_node(const StepInfo& step) override { before_node(step); }
  void after_nested_node(const StepInfo& step) override { after_node(step); }

 private:
  GraphExecutor& executor_;
  std::optional<Span> run_;
  std::vector<std::unique_ptr<Span>> steps_;  ///< nested, the innermost last
};

}  // namespace d5

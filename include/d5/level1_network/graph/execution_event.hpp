// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/trace/event.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "d5/level1_network/graph/step_info.hpp"

namespace d5 {

/// Hooks of an executor. All bodies are empty; override those you need. They are called on the
/// thread that runs the network. An executor without observers pays one branch per run and step.
class ExecutionEvent : public virtual Event {
 public:
  /// Before and after a whole run. For `inference_and_backprop`, which also runs forward, `pass` is
  /// backward.
  virtual void before_run(Pass pass) { (void)pass; }
  virtual void after_run(Pass pass) { (void)pass; }
  /// Before and after each pass of a run: one pass, or forward and then backward.
  virtual void before_pass(Pass pass) { (void)pass; }
  virtual void after_pass(Pass pass) { (void)pass; }
  /// Before and after each step. A device's work may still be under way on its stream.
  virtual void before_node(const StepInfo& step) { (void)step; }
  virtual void after_node(const StepInfo& step) { (void)step; }
  /// Before and after each step of a graph that a node holds (If, Loop, ...), within that node's
  /// own hooks; graphs may nest deeper. `step.step` counts in that graph's plan, which may be
  /// another one in the next run: `step.path` identifies the step.
  virtual void before_nested_node(const StepInfo& step) { (void)step; }
  virtual void after_nested_node(const StepInfo& step) { (void)step; }
  /// Called once per parameter and run, in the order of the arena, as soon as the gradient is
  /// final. On a device it is final when the work queued on `stream` so far is done
  /// (`stream.record()`).
  virtual void gradient_ready(Parameter& parameter, std::size_t index, Stream& stream) {
    (void)parameter, (void)index, (void)stream;
  }
};

}  // namespace d5

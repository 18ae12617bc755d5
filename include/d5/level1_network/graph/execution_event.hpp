// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/trace/event.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "d5/level1_network/graph/step_info.hpp"

namespace d5 {

/// Hooks of an executor. All bodies are empty; override what is of interest. Called on the thread
/// that runs the network; an executor that nobody observes pays one branch a run and a step.
class ExecutionEvent : public virtual Event {
 public:
  /// Around a whole run; `pass` is backward for `inference_and_backprop`, which also covers
  /// forward.
  virtual void before_run(Pass pass) { (void)pass; }
  virtual void after_run(Pass pass) { (void)pass; }
  /// Around each of a run's passes: one, or the forward one and then the backward one.
  virtual void before_pass(Pass pass) { (void)pass; }
  virtual void after_pass(Pass pass) { (void)pass; }
  /// Around each step. Work of a device may still be under way on its stream.
  virtual void before_node(const StepInfo& step) { (void)step; }
  virtual void after_node(const StepInfo& step) { (void)step; }
  /// Around each step of a graph that a node holds (If, Loop, ...), within that node's own hooks; a
  /// node there may hold graphs again. `step.step` counts in that graph's plan, which may be
  /// another in the next run: `step.path` tells them apart.
  virtual void before_nested_node(const StepInfo& step) { (void)step; }
  virtual void after_nested_node(const StepInfo& step) { (void)step; }
  /// Once per parameter and run, in the order of the arena, as soon as its gradient is final: on a
  /// device, when what is queued on `stream` so far is done (`stream.record()`).
  virtual void gradient_ready(Parameter& parameter, std::size_t index, Stream& stream) {
    (void)parameter, (void)index, (void)stream;
  }
};

}  // namespace d5

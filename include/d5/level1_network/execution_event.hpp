// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/event.hpp"
#include "d5/level1_network/network.hpp"
#include "d5/level1_network/step_info.hpp"

namespace d5 {

/// Hooks of an executor. All bodies are empty; override what is of interest. Called on the thread
/// that runs the network; an executor that nobody observes pays one branch a run and a step.
class ExecutionEvent : public virtual Event {
 public:
  /// Around a whole run; `pass` is backward for `inference_and_backprop`, which also covers
  /// forward.
  virtual void before_run(Pass pass) { (void)pass; }
  virtual void after_run(Pass pass) { (void)pass; }
  /// Around each step. Work of a device may still be under way on its stream.
  virtual void before_node(const StepInfo& step) { (void)step; }
  virtual void after_node(const StepInfo& step) { (void)step; }
  /// Once per parameter and run, as soon as its gradient is final, in the order of the arena.
  virtual void gradient_ready(Parameter& parameter, std::size_t index) {
    (void)parameter, (void)index;
  }
};

}  // namespace d5

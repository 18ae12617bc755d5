// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/core/event.hpp"
#include "d5/core/value.hpp"
#include "d5/level1_network/network.hpp"
#include "d5/onnx/model.hpp"

namespace d5 {

enum class Pass { forward, backward };

/// Hooks of an executor. All bodies are empty; override what is of interest. Called on the thread
/// that runs the network; an executor that nobody observes pays one branch a run and a step.
class ExecutionEvent : public virtual Event {
 public:
  /// Around a whole run; `pass` is backward for `inference_and_backprop`, which also covers
  /// forward.
  virtual void before_run(Pass pass) { (void)pass; }
  virtual void after_run(Pass pass) { (void)pass; }
  /// Around each operator. `step` is its place in the plan; device work may still be under way.
  virtual void before_node(const onnx::Node& node, std::size_t step, Pass pass) {
    (void)node, (void)step, (void)pass;
  }
  virtual void after_node(const onnx::Node& node, std::size_t step, Pass pass) {
    (void)node, (void)step, (void)pass;
  }
  /// Once per parameter and run, as soon as its gradient is final, in the order of the arena.
  virtual void gradient_ready(Parameter& parameter, std::size_t index) {
    (void)parameter, (void)index;
  }
};

}  // namespace d5

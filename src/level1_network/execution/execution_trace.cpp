// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/execution_trace.hpp"

namespace d5 {

void ExecutionTrace::before_run(Pass pass) {
  // A run that threw did not say when it ended.
  for (auto* left : {&step_, &run_}) {
    if (*left) (*left)->discard();
  }
  run_.emplace("network", pass == Pass::forward ? "inference" : "inference_and_backprop");
  run_->argument("network", executor_.network().name());
  run_->argument("framework", executor_.framework());
}

void ExecutionTrace::after_run(Pass) { run_.reset(); }

void ExecutionTrace::before_node(const StepInfo& step) {
  step_.emplace("operator", [&] {
    const char* suffix = step.pass == Pass::forward ? "" : step.recomputed ? " again" : " backward";
    return onnx::describe(step.node) + suffix;
  });
  step_->argument("step", step.step);
  step_->argument("framework", step.framework);
  if (step.device != Device{}) step_->argument("device", to_string(step.device));
  if (!step.layout.empty()) step_->argument("layout", step.layout);
}

void ExecutionTrace::after_node(const StepInfo&) { step_.reset(); }

}  // namespace d5

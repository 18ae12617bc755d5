// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/execution/execution_trace.hpp"

namespace d5 {

void ExecutionTrace::before_run(Pass pass) {
  // A run that threw did not report its end.
  for (; !steps_.empty(); steps_.pop_back()) steps_.back()->discard();
  if (run_) run_->discard();
  run_.emplace("network", pass == Pass::forward ? "inference" : "inference_and_backprop");
  run_->argument("network", executor_.network().name());
  run_->argument("framework", executor_.framework());
}

void ExecutionTrace::after_run(Pass) { run_.reset(); }

void ExecutionTrace::before_node(const StepInfo& step) {
  Span& span = *steps_.emplace_back(std::make_unique<Span>("operator", [&] {
    const char* suffix = step.pass == Pass::forward ? "" : step.recomputed ? " again" : " backward";
    return describe(step) + suffix;
  }));
  span.argument("step", step.step);
  span.argument("framework", step.framework);
  if (step.device != Device{}) span.argument("device", to_string(step.device));
  if (!step.layout.empty()) span.argument("layout", step.layout);
}

void ExecutionTrace::after_node(const StepInfo&) { steps_.pop_back(); }

}  // namespace d5

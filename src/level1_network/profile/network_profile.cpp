// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/network_profile.hpp"

#include <fmt/format.h>

#include "d5/core/clock.hpp"

namespace d5 {

void NetworkProfile::begin(int repetitions) {
  repetitions_ = repetitions;
  sums_.assign(steps_.size(), 0);
}

void NetworkProfile::meet(const StepInfo& step) {
  const onnx::Node& node = step.node;
  const bool forward = step.pass == Pass::forward || step.recomputed;
  const std::string unnamed = node.outputs.empty() ? "" : node.outputs.front();
  steps_.push_back({.node = node.name.empty() ? unnamed : node.name,
                    .op_type = (node.domain.empty() ? "" : node.domain + ".") + node.op_type,
                    .pass = step.pass,
                    .framework = std::string(step.framework),
                    .cost = forward ? step.cost : Cost{},
                    .memory = step.memory});
  sums_.push_back(0);
}

void NetworkProfile::before_node(const StepInfo& step) {
  if (step.prepares) return;  // no part of a repeated run
  if (step.step >= steps_.size()) [[unlikely]]
    meet(step);
  node_begin_ = now_seconds();
}

void NetworkProfile::after_node(const StepInfo& step) {
  if (step.prepares) return;
  if (step.device != Device{}) step.stream.synchronise();
  sums_[step.step] += now_seconds() - node_begin_;
}

void NetworkProfile::end() {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    steps_[i].seconds.push_back(sums_[i] / repetitions_);
  }
}

void NetworkProfile::summarise(Measurement& result) const {
  if (steps_.empty()) {
    result.status = Status::unsupported;
    result.reason =
        "no step was observed: the subject names no executor's events, or the executor runs the "
        "network as a whole";
    return;
  }
  result.samples = whole_;
  result.conditions["profile.steps"] = fmt::format("{}", steps_.size());
  result.conditions["profile.clock seconds"] =
      fmt::format("{:.3e}", 2 * double(steps_.size()) * clock_cost().seconds_per_read);
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/profile/network_profile.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/clocks/clock.hpp"

namespace d5 {

void NetworkProfile::begin(int repetitions) {
  repetitions_ = repetitions;
  for (Sums& sums : sums_) sums.seconds = 0, sums.cost = {};
}

bool NetworkProfile::is(std::size_t place, const StepInfo& step) const {
  return place < steps_.size() && steps_[place].pass == step.pass &&
         sums_[place].recomputed == step.recomputed && steps_[place].node == step.path;
}

std::size_t NetworkProfile::place_of(const StepInfo& step) {
  // The next step usually comes; at the end of a graph, the graph's first step or the run's.
  const std::size_t holder = open_.empty() ? kNone : open_.back().step;
  const std::size_t first = holder == kNone ? 0 : sums_[holder].first_within;
  for (const std::size_t likely : {last_ + 1, first}) {
    if (is(likely, step)) return likely;
  }
  const auto [place, fresh] =
      places_.try_emplace({step.path, step.pass, step.recomputed}, steps_.size());
  if (!fresh) return place->second;
  const onnx::Node& node = step.node;
  const std::size_t samples = steps_.empty() ? 0 : steps_.front().seconds.size();
  steps_.push_back({.node = step.path,
                    .op_type = (node.domain.empty() ? "" : node.domain + ".") + node.op_type,
                    .pass = step.pass,
                    .framework = std::string(step.framework),
                    .holder = holder,
                    .seconds = std::vector<double>(samples, 0)});
  sums_.push_back({.recomputed = step.recomputed});
  if (holder != kNone && first == kNone) sums_[holder].first_within = place->second;
  return place->second;
}

void NetworkProfile::before_node(const StepInfo& step) {
  if (step.prepares) return;  // no part of a repeated run
  last_ = place_of(step);
  open_.push_back({.step = last_});
  open_.back().begin = now_seconds();
}

void NetworkProfile::after_node(const StepInfo& step) {
  if (step.prepares) return;
  if (step.device != Device{}) step.stream.synchronise();
  const double now = now_seconds();
  const Open ended = open_.back();
  open_.pop_back();
  if (!open_.empty()) open_.back().within += now - ended.begin;
  Sums& sums = sums_[ended.step];
  sums.seconds += now - ended.begin - ended.within;
  if (step.pass == Pass::forward || step.recomputed) {
    sums.cost.flop += step.cost.flop;
    sums.cost.bytes_read += step.cost.bytes_read;
    sums.cost.bytes_written += step.cost.bytes_written;
  }
  std::size_t& memory = steps_[ended.step].memory;
  memory = std::max(memory, step.memory);
}

void NetworkProfile::end() {
  const double runs = repetitions_;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const auto& [recomputed, first, seconds, cost] = sums_[i];
    steps_[i].seconds.push_back(seconds / runs);
    steps_[i].cost = {cost.flop / runs, cost.bytes_read / runs, cost.bytes_written / runs};
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
  result.conditions["profile.steps"] = aside(steps_.size());
  result.conditions["profile.clock seconds"] =
      aside(2 * double(steps_.size()) * clock_cost().seconds_per_read, "s");
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "level1_network/micro_batch/segment_memory.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace d5 {

SegmentMemory::SegmentMemory(const Network& network, PlannedMemory memory, std::int64_t size,
                             std::int64_t batch)
    : network_(network), memory_(std::move(memory)), batch_(double(batch)), size_(double(size)) {
  const auto& nodes = network.graph().nodes;
  forward_.assign(nodes.size(), kNone);
  backward_.assign(nodes.size(), kNone);
  const auto name_of = [](const onnx::Node& node) {
    return node.name.empty() ? node.op_type : node.name;
  };
  // Steps keep the order of the nodes; a folded node has no step.
  std::size_t step = 0;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    std::size_t place = step;
    while (place < memory_.steps.size() && memory_.steps[place] != name_of(nodes[n])) ++place;
    if (place == memory_.steps.size()) continue;
    forward_[n] = place;
    step = place + 1;
  }
  for (std::size_t n = nodes.size(); n-- > 0;) {
    std::size_t place = step;
    const std::string name = "gradient of " + name_of(nodes[n]);
    while (place < memory_.steps.size() && memory_.steps[place] != name) ++place;
    if (place == memory_.steps.size()) continue;
    backward_[n] = place;
    step = place + 1;
  }
}

std::optional<SegmentMemory::Steps> SegmentMemory::steps(const BatchSegment& segment,
                                                         bool backward) const {
  std::optional<Steps> result;
  for (const std::size_t n : segment.nodes) {
    const std::size_t step = (backward ? backward_ : forward_)[n];
    if (step == kNone) continue;
    if (!result) result = {step, step};
    result = {std::min(result->begin, step), std::max(result->end, step)};
  }
  return result;
}

SegmentMemory::Alive SegmentMemory::alive(Steps steps) const {
  Alive result;
  std::vector<double> within(steps.end - steps.begin + 1);
  for (const auto& block : memory_.blocks) {
    if (block.end < steps.begin || block.begin > steps.end) continue;
    if (block.begin < steps.begin || block.end > steps.end) {
      result.around += double(block.bytes) * batch_ / size_;
      continue;
    }
    for (std::size_t t = block.begin; t <= block.end; ++t) {
      within[t - steps.begin] += double(block.bytes);
    }
  }
  result.within = *std::ranges::max_element(within);
  return result;
}

std::size_t SegmentMemory::bytes(const BatchSegment& segment, const ValueDescs& descs) const {
  const auto fed = network_.input_names();
  double entering = 0, leaving = 0, slices = 0;
  for (const auto& name : segment.entering) {
    const bool is_fed = std::ranges::find(fed, name) != fed.end();
    (is_fed ? slices : entering) += double(descs.find(name)->second.tensor.bytes());
  }
  for (const auto& name : segment.leaving) {
    leaving += double(descs.find(name)->second.tensor.bytes());
  }
  const auto forward = steps(segment, false), backward = steps(segment, true);
  if (size_ == batch_) slices = entering = leaving = 0;
  // The backward pass reads the slices of all micro-batches, the forward pass those of one.
  if (!backward) slices *= size_ / batch_;
  double most = 0;
  if (forward) {
    const auto [around, within] = alive(*forward);
    // A tensor and its parts coexist before the first micro-batch and after the last.
    most = around + slices + std::max({within, entering, leaving});
  }
  if (backward) {
    const auto [around, within] = alive(*backward);
    most = std::max(most, around + slices + within + std::max(entering, leaving));
  }
  return std::size_t(most);
}

}  // namespace d5

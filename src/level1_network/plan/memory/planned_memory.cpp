// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/plan/planned_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "d5/core/results/results.hpp"
#include "d5/core/tensor/arena.hpp"
#include "level1_network/plan/memory/memory_layout.hpp"

namespace d5 {
namespace {

using Kind = PlannedMemory::Kind;
using Block = PlannedMemory::Block;

/// Names the blocks of a draft's memory layout.
class Naming {
 public:
  explicit Naming(const Draft& draft) : blocks_(draft.blocks.size()) {
    const std::size_t last = draft.steps.size() + draft.backward.size() + draft.again.size();
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const MemoryBlock& block = draft.blocks[b];
      blocks_[b] = {.device = draft.block_devices[b],
                    .bytes = block.bytes,
                    .offset = block.offset,
                    .begin = block.begin,
                    .end = std::min(block.end, last == 0 ? 0 : last - 1)};
    }
  }
  void name(std::size_t block, Kind kind, const std::string& name) {
    if (block == Draft::kNoBlock) return;
    Block& named = blocks_[block];
    named.kind = kind;
    named.name += (named.name.empty() ? "" : ", ") + name;
  }
  std::vector<Block> take() {
    std::erase_if(blocks_, [](const Block& block) { return block.bytes == 0; });
    return std::move(blocks_);
  }

 private:
  std::vector<Block> blocks_;
};

const char* words_of(Kind kind) {
  switch (kind) {
    case Kind::value:
      return "values";
    case Kind::gradient:
      return "gradients";
    case Kind::kept:
      return "kept for backward";
    case Kind::scratch:
      return "scratch";
  }
  return "";
}

std::set<Kind> kinds_on(Device device, const PlannedMemory& memory) {
  std::set<Kind> kinds;
  for (const auto& block : memory.blocks) {
    if (block.device == device) kinds.insert(block.kind);
  }
  return kinds;
}

std::string name_of(const Draft::Step& step) {
  return step.node->name.empty() ? step.node->op_type : step.node->name;
}

}  // namespace

void record_memory(Draft& draft) {
  PlannedMemory& memory = draft.plan->memory;
  Naming naming(draft);
  for (const auto& slot : draft.slots) {
    if (slot.origin == Draft::Origin::planned) naming.name(slot.block, Kind::value, slot.name);
  }
  memory.steps = draft.names_of_steps();
  for (const auto& slot : draft.again_slots) naming.name(slot.block, Kind::value, slot.name);
  for (const auto& step : draft.again) {
    naming.name(step.scratch_block, Kind::scratch, "scratch of " + name_of(step) + " again");
    for (const std::size_t block : step.saved_blocks) {
      naming.name(block, Kind::kept, "kept by " + name_of(step) + " again");
    }
  }
  for (const auto& step : draft.steps) {
    naming.name(step.scratch_block, Kind::scratch, "scratch of " + name_of(step));
    naming.name(step.backward_scratch_block, Kind::scratch,
                "scratch of the gradient of " + name_of(step));
    for (const std::size_t block : step.saved_blocks) {
      naming.name(block, Kind::kept, "kept by " + name_of(step));
    }
  }
  for (const auto& step : draft.backward) {
    for (const auto& place : step.places) {
      if (place.slot) naming.name(place.block, Kind::gradient, "gradient of " + place.slot->name);
    }
  }
  memory.blocks = naming.take();
}

std::size_t PlannedMemory::bytes(Device device) const {
  std::size_t most = 0;
  for (const auto& block : blocks) {
    if (block.device == device) most = std::max(most, block.offset + block.bytes);
  }
  return Arena::aligned(most);
}

MemoryPrediction predicted_memory(const Network& network, const ValueMap& inputs,
                                  const PlannedMemory& plan, std::string_view loss) {
  const auto on_host = [](const Tensor& tensor) {
    return tensor.device() == Device{} ? tensor.bytes() : 0;
  };
  MemoryPrediction result{.plan = plan.bytes()};
  for (const auto& [name, tensor] : network.graph().initializers) {
    (network.is_parameter(name) ? result.parameters : result.constants) += on_host(tensor);
  }
  if (!loss.empty()) result.gradients = result.parameters;
  for (const auto& [name, value] : inputs) {
    if (value.is_tensor()) result.inputs += on_host(value.tensor());
  }
  return result;
}

std::vector<Plot> memory_plots(const PlannedMemory& memory) {
  std::set<Device> devices;
  for (const auto& block : memory.blocks) devices.insert(block.device);
  std::vector<Plot> plots;
  for (const Device device : devices) {
    Plot& plot = plots.emplace_back();
    plot = {
        .name = devices.size() > 1 ? "memory-" + to_string(device) : "memory",
        .title = "Memory plan" + (devices.size() > 1 ? ", " + to_string(device) : ""),
        .note = fmt::format("{} in {} steps; parameters and inputs are not in it.",
                            with_prefix(double(memory.bytes(device)), "byte"), memory.steps.size()),
        .x = {.label = "step", .scale = PlotAxis::Scale::whole},
        .y = {.label = "place", .unit = "byte"}};
    const auto kinds = kinds_on(device, memory);
    for (const Kind kind : kinds) plot.series.emplace_back(words_of(kind));
    for (const auto& block : memory.blocks) {
      if (block.device != device) continue;
      const double low = double(block.offset), high = low + double(block.bytes);
      plot.marks.push_back(
          {.shape = PlotMark::Shape::box,
           .series = std::size_t(std::distance(kinds.begin(), kinds.find(block.kind))),
           .points = {{double(block.begin), low}, {double(block.end + 1), high}},
           .tip = fmt::format("{}: {}, from step {} ({}) to {} ({})", block.name,
                              with_prefix(double(block.bytes), "byte"), block.begin,
                              memory.steps[block.begin], block.end, memory.steps[block.end])});
    }
  }
  return plots;
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan/memory/memory_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "d5/level1_network/graph/transform.hpp"
#include "level1_network/plan/gradients/backward_schedule.hpp"
#include "level1_network/plan/gradients/gradient_layout.hpp"

namespace d5 {
namespace {

using Slot = Draft::Slot;

void forget_lifetimes(Draft& draft) {
  draft.blocks.clear();
  draft.block_devices.clear();
  for (Slot& slot : draft.slots) {
    slot.block = slot.gradient_block = Draft::kNoBlock;
    slot.gradient = nullptr;
    slot.contributions = 0;
  }
  for (Draft::Step& step : draft.steps) {
    step.saved_blocks.clear();
    step.scratch_block = step.backward_scratch_block = Draft::kNoBlock;
  }
  for (Draft::BackwardStep& step : draft.backward) step.places.clear();
  draft.plan->gradients.clear();
}

/// Lets the step's output reuse the memory of its input if the kernel allows it and no other step
/// needs the input any more.
void share_block(Draft& draft, const Draft::Step& step, std::size_t now) {
  const int output = step.traits.in_place_output;
  if (output < 0 || std::size_t(output) >= step.outputs.size()) return;
  const Slot* from = step.inputs.empty() ? nullptr : step.inputs.front();
  Slot* to = step.outputs[std::size_t(output)];
  if (!from || !to || from->block == Draft::kNoBlock || to->block == Draft::kNoBlock) return;
  MemoryBlock& old_block = draft.blocks[from->block];
  MemoryBlock& new_block = draft.blocks[to->block];
  const bool read_once = std::count(step.inputs.begin(), step.inputs.end(), from) == 1 &&
                         std::count(step.captured.begin(), step.captured.end(), from) == 0;
  if (old_block.end != now || !read_once || old_block.bytes != new_block.bytes) return;
  old_block.end = new_block.end;
  new_block.bytes = 0;
  to->block = from->block;
}

void share_blocks(Draft& draft) {
  std::size_t now = 0;
  for (const Draft::Step& step : draft.steps) share_block(draft, step, now++);
  for (const Draft::BackwardStep& step : draft.backward) {
    for (const Draft::Step* again : step.again) share_block(draft, *again, now++);
    ++now;
  }
}

std::string ways_out(const Draft& draft) {
  std::string ways = "give a smaller batch";
  if (draft.goes_back() && draft.request.recompute.empty()) {
    ways +=
        ", recompute in backward (ExecutorOptions::recompute, " + option_word("recompute") + ")";
  }
  if (transforms().find("microbatch")) {
    ways += ", split the batch (" + option_word("transform", "microbatch") + ")";
  }
  return ways + ", or allow more";
}

/// Throws: MemoryError if `bytes` exceed the plan's limit on `device`.
void expect_room(const Draft& draft, Device device, std::size_t bytes, const MemoryBound& bound) {
  const std::size_t limit = draft.state.memory_limit;
  const bool limited = limit > 0 && limit < memory_budget();
  const std::size_t most = limited ? limit : memory_budget();
  if (bytes <= most) return;
  throw MemoryError(fmt::format(
      "the plan of network '{}' needs {} ({} bytes) on {}, above the memory {} of {} ({} bytes); "
      "every plan of these steps needs at least {} ({} bytes), for step '{}' alone; {}",
      printable(draft.request.path.empty() ? draft.request.graph->name : draft.request.path),
      memory_size(double(bytes)), bytes, to_string(device), limited ? "limit" : "budget",
      memory_size(double(most)), most, memory_size(double(bound.bytes)), bound.bytes,
      printable(draft.names_of_steps()[bound.step]), ways_out(draft)));
}

/// Whether the block occupies memory on the device.
bool is_on(const Draft& draft, std::size_t block, Device device) {
  return draft.block_devices[block] == device && draft.blocks[block].bytes > 0;
}

}  // namespace

std::size_t request_block(Draft& draft, const TensorDesc& desc, std::size_t begin) {
  if (desc.dtype == DType::string) return Draft::kNoBlock;
  draft.blocks.push_back({desc.bytes(), begin, begin, 0});
  draft.block_devices.push_back(desc.device);
  return draft.blocks.size() - 1;
}

std::size_t request_scratch(Draft& draft, const Draft::Step& step, std::size_t time) {
  if (step.scratch_bytes == 0) return Draft::kNoBlock;
  return request_block(
      draft,
      {.dtype = DType::uint8, .shape = {std::int64_t(step.scratch_bytes)}, .device = step.device},
      time);
}

void keep_until(Draft& draft, std::size_t block, std::size_t time) {
  if (block == Draft::kNoBlock) return;
  draft.blocks[block].end = std::max(draft.blocks[block].end, time);
}

void plan_lifetime(Draft& draft, Draft::Step& step, std::size_t now) {
  for (Slot* slot : step.outputs) {
    if (!slot || step.dynamic || slot->memory_of) continue;
    slot->block = request_block(draft, slot->desc.tensor, now);
  }
  for (const auto* read : {&step.inputs, &step.captured}) {
    for (const Slot* slot : *read) {
      if (slot) keep_until(draft, slot->block, now);
    }
  }
  for (TensorDesc& desc : step.saved) {
    desc.device = step.device;
    step.saved_blocks.push_back(request_block(draft, desc, now));
  }
  // A device may read the host's memory after the host has continued.
  if (step.transfers && step.outputs[0]->desc.tensor.device != Device{}) {
    keep_until(draft, step.inputs[0]->block, MemoryBlock::kForever);
  }
  step.scratch_block = request_scratch(draft, step, now);
}

void plan_lifetimes(Draft& draft) {
  forget_lifetimes(draft);
  for (Draft::Step& step : draft.kept) {
    plan_lifetime(draft, step, 0);
    keep_until(draft, step.outputs[0]->block, MemoryBlock::kForever);
  }
  for (std::size_t now = 0; now < draft.steps.size(); ++now) {
    plan_lifetime(draft, draft.steps[now], now);
  }
  for (const auto* lasting : {&draft.answers, &draft.updates}) {
    for (const auto& [name, slot] : *lasting) {
      keep_until(draft, slot->block, MemoryBlock::kForever);
    }
  }
  if (draft.goes_back()) {
    schedule_backward(draft);
    plan_gradients(draft);
  }
  share_blocks(draft);
}

std::vector<MemoryBlock> blocks_on(const Draft& draft, Device device) {
  const std::size_t steps = draft.steps.size() + draft.again.size() + draft.backward.size();
  std::vector<MemoryBlock> blocks;
  for (std::size_t b = 0; b < draft.blocks.size(); ++b) {
    if (!is_on(draft, b, device)) continue;
    blocks.push_back(draft.blocks[b]);
    blocks.back().end = std::min(blocks.back().end, std::max<std::size_t>(steps, 1) - 1);
  }
  return blocks;
}

void assign_places(Draft& draft) {
  for (const Device device : std::set(draft.block_devices.begin(), draft.block_devices.end())) {
    std::vector<MemoryBlock> blocks = blocks_on(draft, device);
    const MemoryBound bound = memory_bound(blocks);
    expect_room(draft, device, bound.bytes, bound);
    const std::size_t bytes = assign_offsets(blocks);
    expect_room(draft, device, bytes, bound);
    draft.arena_bytes[device] = bytes;
    auto block = blocks.begin();
    for (std::size_t b = 0; b < draft.blocks.size(); ++b) {
      if (is_on(draft, b, device)) draft.blocks[b].offset = (block++)->offset;
    }
  }
}

void allocate_memory(Draft& draft) {
  if (!draft.request.path.empty()) {
    std::size_t sum = 0;
    for (const auto& [device, bytes] : draft.arena_bytes) sum += bytes;
    draft.plan->reserved = draft.state.reserve(
        sum, fmt::format("the plan of graph '{}'", printable(draft.request.path)));
  }
  for (const auto& [device, bytes] : draft.arena_bytes) {
    draft.plan->arenas.emplace(device, Arena(bytes, device));
  }
  for (auto* slots : {&draft.slots, &draft.again_slots}) {
    for (Slot& slot : *slots) {
      if (slot.origin != Draft::Origin::planned) continue;
      if (slot.memory_of) {
        *slot.value = slot.memory_of->value->tensor();
        continue;
      }
      *slot.value = slot.block == Draft::kNoBlock ? Tensor::empty(slot.desc.tensor)
                                                  : tensor_at(draft, slot.block, slot.desc.tensor);
    }
  }
}

Tensor tensor_at(const Draft& draft, std::size_t block, const TensorDesc& desc) {
  return draft.plan->arenas.at(draft.block_devices[block]).at(draft.blocks[block].offset, desc);
}

std::span<std::byte> bytes_at(const Draft& draft, std::size_t block) {
  if (block == Draft::kNoBlock) return {};
  Tensor bytes = tensor_at(draft, block, {DType::uint8, {std::int64_t(draft.blocks[block].bytes)}});
  return {static_cast<std::byte*>(bytes.raw()), bytes.bytes()};
}

}  // namespace d5

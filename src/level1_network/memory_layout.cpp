// SPDX-License-Identifier: Apache-2.0
#include "level1_network/memory_layout.hpp"

#include <algorithm>

namespace d5 {
namespace {

using Slot = Draft::Slot;

/// A step's output takes over the memory of its input where the kernel allows it and nobody else
/// needs the input any more.
void share_blocks(Draft& draft) {
  for (std::size_t now = 0; now < draft.steps.size(); ++now) {
    const Draft::Step& step = draft.steps[now];
    const int output = step.traits.in_place_output;
    if (output < 0 || std::size_t(output) >= step.outputs.size()) continue;
    const Slot* from = step.inputs.empty() ? nullptr : step.inputs.front();
    Slot* to = step.outputs[std::size_t(output)];
    if (!from || !to || from->block == Draft::kNoBlock || to->block == Draft::kNoBlock) continue;
    MemoryBlock& old_block = draft.blocks[from->block];
    MemoryBlock& new_block = draft.blocks[to->block];
    const bool read_once = std::count(step.inputs.begin(), step.inputs.end(), from) == 1 &&
                           std::count(step.captured.begin(), step.captured.end(), from) == 0;
    if (old_block.end != now || !read_once || old_block.bytes != new_block.bytes) continue;
    old_block.end = new_block.end;
    new_block.bytes = 0;
    to->block = from->block;
  }
}

}  // namespace

std::size_t request_block(Draft& draft, const TensorDesc& desc, std::size_t begin) {
  if (desc.dtype == DType::string) return Draft::kNoBlock;
  draft.blocks.push_back({desc.bytes(), begin, begin, 0});
  return draft.blocks.size() - 1;
}

std::size_t request_scratch(Draft& draft, const Draft::Step& step, std::size_t time) {
  if (step.scratch_bytes == 0) return Draft::kNoBlock;
  return request_block(draft, {DType::uint8, {std::int64_t(step.scratch_bytes)}}, time);
}

void keep_until(Draft& draft, std::size_t block, std::size_t time) {
  if (block == Draft::kNoBlock) return;
  draft.blocks[block].end = std::max(draft.blocks[block].end, time);
}

void plan_lifetimes(Draft& draft) {
  for (std::size_t now = 0; now < draft.steps.size(); ++now) {
    Draft::Step& step = draft.steps[now];
    for (Slot* slot : step.outputs) {
      if (slot && !step.dynamic) slot->block = request_block(draft, slot->desc.tensor, now);
    }
    for (const auto* read : {&step.inputs, &step.captured}) {
      for (const Slot* slot : *read) {
        if (slot) keep_until(draft, slot->block, now);
      }
    }
    for (const TensorDesc& desc : step.saved) {
      step.saved_blocks.push_back(request_block(draft, desc, now));
    }
    step.scratch_block = request_scratch(draft, step, now);
  }
  for (const auto& output : draft.request.graph->outputs) {
    keep_until(draft, draft.at(output.name).block, MemoryBlock::kForever);
  }
  for (const auto& [constant, output] : draft.request.updates) {
    keep_until(draft, draft.at(output).block, MemoryBlock::kForever);
  }
}

void lay_out_memory(Draft& draft) {
  share_blocks(draft);
  draft.plan->arena = Arena(assign_offsets(draft.blocks));
  for (Slot& slot : draft.slots) {
    if (slot.origin != Draft::Origin::planned) continue;
    *slot.value = slot.block == Draft::kNoBlock ? Tensor::empty(slot.desc.tensor)
                                                : tensor_at(draft, slot.block, slot.desc.tensor);
  }
}

Tensor tensor_at(const Draft& draft, std::size_t block, const TensorDesc& desc) {
  return draft.plan->arena.at(draft.blocks[block].offset, desc);
}

std::span<std::byte> bytes_at(const Draft& draft, std::size_t block) {
  if (block == Draft::kNoBlock) return {};
  Tensor bytes = tensor_at(draft, block, {DType::uint8, {std::int64_t(draft.blocks[block].bytes)}});
  return std::as_writable_bytes(bytes.span<std::uint8_t>());
}

}  // namespace d5

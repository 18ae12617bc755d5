// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan/updates_in_place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "level1_network/nodes/cache_writers.hpp"
#include "level1_network/plan/memory_overlap.hpp"

namespace d5 {
namespace {

using Slot = Draft::Slot;

const Draft::Step* writer_of(const Draft& draft, const Slot& slot) {
  for (const Draft::Step& step : draft.steps) {
    if (std::ranges::find(step.outputs, &slot) != step.outputs.end()) return &step;
  }
  return nullptr;
}

std::size_t reads_of(const Draft::Step& step, const Slot& slot) {
  return std::size_t(std::ranges::count(step.inputs, &slot) +
                     std::ranges::count(step.captured, &slot));
}

/// A step other than `writer` that reads the slot, or null.
const Draft::Step* other_reader(const Draft& draft, const Draft::Step& writer, const Slot& slot) {
  const auto reads = [&](const Draft::Step& step) {
    return &step != &writer && reads_of(step, slot) > 0;
  };
  const auto step = std::ranges::find_if(draft.steps, reads);
  if (step != draft.steps.end()) return &*step;
  const auto kept = std::ranges::find_if(draft.kept, reads);
  return kept != draft.kept.end() ? &*kept : nullptr;
}

/// A tensor of the graph that shares memory with the constant, or empty.
std::string sharer(const Draft& draft, const std::string& constant, const Tensor& memory) {
  for (const auto& [name, tensor] : draft.request.graph->initializers) {
    if (name != constant && overlap(tensor, memory)) return name;
  }
  return {};
}

bool is_answer(const Draft& draft, const Slot& slot) {
  return std::ranges::any_of(draft.answers,
                             [&](const auto& answer) { return answer.second == &slot; });
}

/// Whether another update reads the constant's old value as its new one.
bool is_taken_over(const Draft& draft, const Slot& constant) {
  return std::ranges::any_of(draft.updates,
                             [&](const auto& update) { return update.second == &constant; });
}

/// Whether the kernel writes new rows alone where a cache and its new value have one address. The
/// reference composes GroupQueryAttention of scatters, in float32 and float64 without conversions.
bool writes_in_place(const Draft::Step& writer, DType dtype) {
  if (writer.node->op_type == "TensorScatter") return writer.traits.in_place_output == 0;
  return writer.framework == "reference" && (dtype == DType::float32 || dtype == DType::float64);
}

/// Why the update cannot be in place; empty: it can.
std::string obstacle(const Draft& draft, const Slot& constant, const Slot& output) {
  if (!draft.request.updates_in_place) return "the executor copies updates";
  if (constant.origin != Draft::Origin::variable) return "a run feeds it";
  if (draft.goes_back()) return "backward reads values of the constant before the run";
  const Draft::Step* writer = writer_of(draft, output);
  const auto cache =
      writer ? cache_of(*writer->node, std::size_t(std::ranges::find(writer->outputs, &output) -
                                                   writer->outputs.begin()))
             : std::nullopt;
  if (!cache) {
    return fmt::format("'{}' is not the output of a TensorScatter or a GroupQueryAttention",
                       printable(output.name));
  }
  if (output.origin != Draft::Origin::planned || output.desc.tensor != constant.desc.tensor) {
    return fmt::format("'{}' has another type, shape or layout, or only running tells them",
                       printable(output.name));
  }
  if (*cache >= writer->inputs.size() || writer->inputs[*cache] != &constant ||
      reads_of(*writer, constant) != 1) {
    return fmt::format("{} does not read '{}' as its cache alone",
                       describe(*writer->node, writer->path), printable(constant.name));
  }
  if (!writes_in_place(*writer, constant.desc.tensor.dtype)) {
    return fmt::format("the kernel of {} does not write in place: {}",
                       describe(*writer->node, writer->path), writer->framework);
  }
  if (const Draft::Step* reader = other_reader(draft, *writer, constant)) {
    return fmt::format("{} reads '{}', too", describe(*reader->node, reader->path),
                       printable(constant.name));
  }
  if (is_answer(draft, constant) || is_answer(draft, output)) {
    return "it is an output of the network";
  }
  if (is_taken_over(draft, constant)) return "another constant takes over its old value";
  const std::string other = sharer(draft, constant.name, constant.value->tensor());
  if (!other.empty()) return fmt::format("its memory is that of '{}', too", printable(other));
  return {};
}

}  // namespace

void find_updates_in_place(Draft& draft) {
  for (const auto& [name, output] : draft.updates) {
    const Slot& constant = draft.at(name);
    std::string reason = obstacle(draft, constant, *output);
    if (reason.empty()) output->memory_of = &constant;
    draft.not_in_place[name] = std::move(reason);
  }
}

}  // namespace d5

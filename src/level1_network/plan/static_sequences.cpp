// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan/static_sequences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "d5/onnx/nodes.hpp"
#include "level0_ops/operator/integers.hpp"

namespace d5 {
namespace {

namespace nodes = onnx::nodes;

constexpr int kOpset = 11;             // the last whose axes and sizes are attributes
constexpr std::int64_t kMost = 10000;  // elements: each becomes a step

onnx::Node node_for(const onnx::Node& origin, std::string op_type, std::vector<std::string> inputs,
                    std::vector<std::string> outputs) {
  onnx::Node node;
  node.name = origin.name;
  node.op_type = std::move(op_type);
  node.opset = kOpset;
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  return node;
}

}  // namespace

StaticSequences::StaticSequences(Draft& draft) : draft_(draft) {
  for (const auto& [name, slot] : draft.by_name) taken_.insert(name);
  for (const auto& node : draft.request.graph->nodes) {
    taken_.insert(node.outputs.begin(), node.outputs.end());
  }
}

std::optional<std::vector<onnx::Node>> StaticSequences::unrolled(const onnx::Node& node) {
  using Unroll = Unrolled (StaticSequences::*)(const onnx::Node&);
  static const std::map<std::string_view, Unroll> kOperators = {
      {"SequenceConstruct", &StaticSequences::sequence_construct},
      {"SequenceInsert", &StaticSequences::sequence_insert},
      {"SequenceErase", &StaticSequences::sequence_erase},
      {"SequenceAt", &StaticSequences::sequence_at},
      {"SequenceLength", &StaticSequences::sequence_length},
      {"ConcatFromSequence", &StaticSequences::concat_from_sequence},
      {"SplitToSequence", &StaticSequences::split_to_sequence},
  };
  const auto place = kOperators.find(node.op_type);
  if (!node.domain.empty() || place == kOperators.end()) return {};
  return (this->*place->second)(node);
}

std::optional<onnx::Node> StaticSequences::construct(const std::string& name) const {
  const Names* elements = elements_of(name);
  if (!elements || draft_.find(name)) return {};
  onnx::Node node;
  node.name = name;
  return node_for(node, "SequenceConstruct", *elements, {name});
}

StaticSequences::Unrolled StaticSequences::sequence_construct(const onnx::Node& node) {
  if (!are_alike(node.inputs)) return {};
  elements_[node.outputs[0]] = node.inputs;
  return std::vector<onnx::Node>();
}

StaticSequences::Unrolled StaticSequences::sequence_insert(const onnx::Node& node) {
  const Names* known = elements_of(node.inputs[0]);
  if (!known) return {};
  Names elements = *known;
  const auto place =
      node.has_input(2) ? position(node, 2, elements.size(), elements.size()) : elements.size();
  if (!place) return {};
  elements.insert(elements.begin() + std::ptrdiff_t(*place), node.inputs[1]);
  if (!are_alike(elements)) return {};
  elements_[node.outputs[0]] = std::move(elements);
  return std::vector<onnx::Node>();
}

StaticSequences::Unrolled StaticSequences::sequence_erase(const onnx::Node& node) {
  const Names* known = elements_of(node.inputs[0]);
  if (!known || known->size() < 2) return {};  // an empty sequence has no element to give its type
  Names elements = *known;
  const std::size_t last = elements.size() - 1;
  const auto place = node.has_input(1) ? position(node, 1, elements.size(), last) : last;
  if (!place) return {};
  elements.erase(elements.begin() + std::ptrdiff_t(*place));
  elements_[node.outputs[0]] = std::move(elements);
  return std::vector<onnx::Node>();
}

StaticSequences::Unrolled StaticSequences::sequence_at(const onnx::Node& node) {
  const Names* elements = elements_of(node.inputs[0]);
  if (!elements) return {};
  const auto place = position(node, 1, elements->size(), elements->size() - 1);
  if (!place) return {};
  return std::vector{node_for(node, "Identity", {(*elements)[*place]}, node.outputs)};
}

StaticSequences::Unrolled StaticSequences::sequence_length(const onnx::Node& node) {
  const Names* elements = elements_of(node.inputs[0]);
  if (!elements) return {};
  std::vector<onnx::Node> result{node_for(node, "Constant", {}, node.outputs)};
  result[0].attributes["value"] = Tensor::scalar(std::int64_t(elements->size()));
  return result;
}

StaticSequences::Unrolled StaticSequences::concat_from_sequence(const onnx::Node& node) {
  const Names* elements = elements_of(node.inputs[0]);
  if (!elements) return {};
  const nodes::ConcatFromSequence view(node);
  std::vector<onnx::Node> result;
  Names parts = *elements;
  if (view.new_axis() != 0) {
    parts = parts_of(node.outputs[0], elements->size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      auto& one = result.emplace_back(node_for(node, "Unsqueeze", {(*elements)[i]}, {parts[i]}));
      one.attributes["axes"] = std::vector{view.axis()};
    }
  }
  auto& concat = result.emplace_back(node_for(node, "Concat", parts, node.outputs));
  concat.attributes["axis"] = view.axis();
  return result;
}

StaticSequences::Unrolled StaticSequences::split_to_sequence(const onnx::Node& node) {
  using View = nodes::SplitToSequence;
  const View view(node);
  const Draft::Slot& x = draft_.at(node.inputs[View::In::input]);
  if (!x.desc.is_static()) return {};
  const Shape& shape = x.desc.tensor.shape;
  const std::size_t axis = normalize_axis(view.axis(), shape.rank(), onnx::describe(node));
  const auto sizes = lengths(node, shape[axis]);
  if (!sizes || sizes->empty()) return {};
  Names parts = parts_of(node.outputs[0], sizes->size());
  std::vector<onnx::Node> result{node_for(node, "Split", {node.inputs[View::In::input]}, parts)};
  result[0].attributes = {{"axis", std::int64_t(axis)}, {"split", *sizes}};
  if (!node.has_input(View::In::split) && view.keepdims() == 0) {
    const Names slices = parts_of(node.outputs[0], parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      auto& one = result.emplace_back(node_for(node, "Squeeze", {parts[i]}, {slices[i]}));
      one.attributes["axes"] = std::vector{std::int64_t(axis)};
    }
    parts = slices;
  }
  elements_[node.outputs[0]] = parts;
  return result;
}

/// Unused names: "name/0", ...
StaticSequences::Names StaticSequences::parts_of(const std::string& name, std::size_t count) {
  Names parts;
  for (std::size_t i = 0; i < count; ++i) {
    std::string part = fmt::format("{}/{}", name, i);
    while (!taken_.insert(part).second) part += '\'';
    parts.push_back(std::move(part));
  }
  return parts;
}

const StaticSequences::Names* StaticSequences::elements_of(const std::string& name) const {
  const auto place = elements_.find(name);
  return place == elements_.end() ? nullptr : &place->second;
}

/// Whether the elements are tensors of one type. The operator reports other cases when it runs.
bool StaticSequences::are_alike(const Names& elements) const {
  const Draft::Slot& first = draft_.at(elements.front());
  return std::ranges::all_of(elements, [&](const std::string& name) {
    const ValueDesc& desc = draft_.at(name).desc;
    return desc.is_tensor() && desc.tensor.dtype == first.desc.tensor.dtype;
  });
}

/// Input `i` of the node, or null if unknown.
const Tensor* StaticSequences::constant(const onnx::Node& node, std::size_t i) const {
  const Draft::Slot& slot = draft_.at(node.inputs[i]);
  const bool known = slot.origin == Draft::Origin::constant && slot.value->is_tensor();
  return known ? &slot.value->tensor() : nullptr;
}

/// The position in input `i`, counted from the front; empty if unknown or invalid.
std::optional<std::size_t> StaticSequences::position(const onnx::Node& node, std::size_t i,
                                                     std::size_t size, std::size_t last) const {
  const Tensor* given = constant(node, i);
  if (!given || given->elements() != 1) return {};
  const std::int64_t at = detail::integers_of(*given, node.op_type)[0];
  const std::int64_t from_front = at < 0 ? at + std::int64_t(size) : at;
  if (from_front < 0 || from_front > std::int64_t(last)) return {};
  return std::size_t(from_front);
}

/// The sizes of the parts of a dimension of `size`; empty if unknown or invalid.
std::optional<std::vector<std::int64_t>> StaticSequences::lengths(const onnx::Node& split,
                                                                  std::int64_t size) const {
  constexpr std::size_t kSplit = nodes::SplitToSequence::In::split;
  std::int64_t length = 1;
  if (split.has_input(kSplit)) {
    const Tensor* given = constant(split, kSplit);
    if (!given) return {};
    const auto sizes = detail::integers_of(*given, split.op_type);
    if (given->shape().rank() > 0) {
      const bool fits = std::ranges::all_of(sizes, [&](auto s) { return s >= 0 && s <= size; }) &&
                        std::reduce(sizes.begin(), sizes.end()) == size;
      return fits ? std::optional(sizes) : std::nullopt;
    }
    length = sizes[0];
  }
  if (length < 1 || size / length >= kMost) return {};
  std::vector<std::int64_t> sizes(std::size_t(size / length), length);
  if (size % length != 0) sizes.push_back(size % length);
  return sizes;
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
// Operators that give the same elements another shape: nothing is computed, bytes are copied, or
// not even that where the output lies in the input's memory.
#include <cstring>

#include "d5/onnx/nodes.hpp"
#include "torch_operator.hpp"

namespace d5::torch {
namespace {

namespace nodes = onnx::nodes;

using Sizes = std::vector<std::int64_t>;

void copy_bytes(const Tensor& from, Tensor& to) {
  if (from.raw() != to.raw() && from.bytes() > 0) std::memcpy(to.raw(), from.raw(), from.bytes());
}

/// Axes as an attribute (before opset 13) or as input 1; none: left out.
template <class View>
std::optional<Sizes> axes_of(const onnx::Node& node, Inputs inputs) {
  if (inputs.size() > 1 && inputs[1].defined()) return integers(inputs[1]);
  if (const auto* given = node.attribute<Sizes>("axes")) return *given;
  return {};
}

Sizes reshaped(const onnx::Node& node, Inputs inputs) {
  const nodes::Reshape view(node);
  Sizes sizes = inputs.size() > 1 ? integers(inputs[1]) : view.shape().value();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0 && view.allowzero() == 0) sizes[i] = inputs[0].size(std::int64_t(i));
  }
  return sizes;
}

Sizes flattened(const onnx::Node& node, Inputs inputs) {
  const at::Tensor& x = inputs[0];
  std::int64_t axis = nodes::Flatten(node).axis();
  if (axis < 0) axis += x.dim();
  Sizes sizes = {1, 1};
  for (std::int64_t i = 0; i < x.dim(); ++i) sizes[i < axis ? 0 : 1] *= x.size(i);
  return sizes;
}

Sizes squeezed(const onnx::Node& node, Inputs inputs) {
  const at::Tensor& x = inputs[0];
  const auto axes = axes_of<nodes::Squeeze>(node, inputs);
  std::vector<bool> drop(std::size_t(x.dim()), false);
  for (std::int64_t i = 0; i < x.dim(); ++i) drop[std::size_t(i)] = !axes && x.size(i) == 1;
  if (axes) {
    for (auto axis : *axes) drop.at(std::size_t(axis < 0 ? axis + x.dim() : axis)) = true;
  }
  Sizes sizes;
  for (std::int64_t i = 0; i < x.dim(); ++i) {
    if (!drop[std::size_t(i)]) sizes.push_back(x.size(i));
  }
  return sizes;
}

Sizes unsqueezed(const onnx::Node& node, Inputs inputs) {
  const Sizes axes = axes_of<nodes::Unsqueeze>(node, inputs).value();
  Sizes sizes(std::size_t(inputs[0].dim()) + axes.size(), 0);
  for (auto axis : axes) {
    sizes.at(std::size_t(axis < 0 ? axis + std::int64_t(sizes.size()) : axis)) = 1;
  }
  std::int64_t next = 0;
  for (auto& size : sizes) {
    if (size == 0) size = inputs[0].size(next++);
  }
  return sizes;
}

Sizes unchanged(const onnx::Node&, Inputs inputs) { return inputs[0].sizes().vec(); }

class Relabel final : public TorchOperator {
 public:
  using NewSizes = Sizes (*)(const onnx::Node&, Inputs);
  Relabel(const onnx::Node& node, NewSizes sizes) : TorchOperator(node), sizes_(sizes) {}

  Results call(Inputs inputs, const Call&) const override {
    return {inputs[0].reshape(sizes_(node(), inputs))};
  }
  int in_place_output() const override { return 0; }
  bool backward_needs_input(std::size_t) const override { return false; }

 protected:
  void run(OpContext& context) override { copy_bytes(context.input(0), context.output(0)); }
  void differentiate(GradContext& context) override {
    copy_bytes(context.grad_output(0), context.grad_input(0));
  }

 private:
  NewSizes sizes_;
};

}  // namespace

void register_relabel(OperatorRegistry& registry) {
  add<Relabel>(registry, "Reshape", {}, reshaped);
  add<Relabel>(registry, "Flatten", {}, flattened);
  add<Relabel>(registry, "Squeeze", {}, squeezed);
  add<Relabel>(registry, "Unsqueeze", {}, unsqueezed);
  add<Relabel>(registry, "Identity", {}, unchanged);
}

}  // namespace d5::torch

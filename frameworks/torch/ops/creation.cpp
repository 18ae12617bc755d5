// SPDX-License-Identifier: Apache-2.0
// Operators that make values rather than compute them, and Cast.
#include <ATen/ops/full.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>

#include <algorithm>

#include "d5/onnx/nodes.hpp"
#include "torch_operator.hpp"

namespace d5::torch {
namespace {

namespace nodes = onnx::nodes;

class Constant final : public TorchOperator {
 public:
  using TorchOperator::TorchOperator;

  Results call(Inputs, const Call&) const override {
    const nodes::Constant view(node());
    if (const auto* value = node().attribute<Tensor>("value")) return {wrap(*value).clone()};
    if (const auto value = view.value_float()) return {at::scalar_tensor(*value)};
    if (const auto value = view.value_int()) return {at::scalar_tensor(*value, at::kLong)};
    if (const auto values = view.value_floats()) return {at::tensor(*values)};
    return {at::tensor(view.value_ints().value(), at::kLong)};
  }
};

Support is_number(const onnx::Node& node) {
  for (const char* name : {"value_string", "value_strings", "sparse_value"}) {
    if (node.attributes.contains(name)) return {std::string("Constant with ") + name};
  }
  return {};
}

class ConstantOfShape final : public TorchOperator {
 public:
  using TorchOperator::TorchOperator;

  Results call(Inputs inputs, const Call&) const override {
    const auto sizes = integers(inputs[0]);
    const auto* value = node().attribute<Tensor>("value");
    if (!value) return {at::full(sizes, 0, at::kFloat)};
    const at::Tensor single = wrap(*value);
    return {at::full(sizes, single.item(), single.options())};
  }
};

class Shape final : public TorchOperator {
 public:
  using TorchOperator::TorchOperator;

  Results call(Inputs inputs, const Call&) const override {
    const nodes::Shape view(node());
    const at::IntArrayRef sizes = inputs[0].sizes();
    const auto rank = std::int64_t(sizes.size());
    const auto place = [&](std::int64_t i) {
      return std::clamp<std::int64_t>(i < 0 ? i + rank : i, 0, rank);
    };
    const std::int64_t begin = place(view.start()), end = place(view.end().value_or(rank));
    return {at::tensor(
        sizes.slice(std::size_t(begin), std::size_t(std::max(end - begin, std::int64_t{0}))),
        at::kLong)};
  }
};

class Size final : public TorchOperator {
 public:
  using TorchOperator::TorchOperator;
  Results call(Inputs inputs, const Call&) const override {
    return {at::scalar_tensor(inputs[0].numel(), at::kLong)};
  }
};

/// Shapes: x any; y rank x number of elements that are not zero, which only the data knows.
class NonZero final : public TorchOperator {
 public:
  using TorchOperator::TorchOperator;
  Results call(Inputs inputs, const Call&) const override { return {at::nonzero(inputs[0]).t()}; }
};

class Cast final : public TorchOperator {
 public:
  using TorchOperator::TorchOperator;
  Results call(Inputs inputs, const Call&) const override {
    return {inputs[0].to(scalar_type(static_cast<DType>(nodes::Cast(node()).to())))};
  }
};

Support casts_to_torch_type(const onnx::Node& node) {
  if (node.opset < 6) return {"Cast to a type given by name (opset < 6)"};
  try {
    (void)scalar_type(static_cast<DType>(nodes::Cast(node).to()));
  } catch (const Unsupported& error) {
    return {error.what()};
  }
  return {};
}

}  // namespace

void register_creation(OperatorRegistry& registry) {
  add<Constant>(registry, "Constant", is_number);
  add<ConstantOfShape>(registry, "ConstantOfShape");
  add<Shape>(registry, "Shape");
  add<Size>(registry, "Size");
  add<NonZero>(registry, "NonZero");
  add<Cast>(registry, "Cast", casts_to_torch_type);
}

}  // namespace d5::torch

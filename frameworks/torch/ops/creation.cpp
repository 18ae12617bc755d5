// SPDX-License-Identifier: Apache-2.0
// Operators that create values, and conversions of type.
#include <ATen/ops/full.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>

#include <algorithm>

#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"
#include "torch_quantization.hpp"

namespace d5::torch {
namespace {

namespace nodes = onnx::nodes;

at::Tensor constant_of(const onnx::Node& node) {
  const nodes::Constant view(node);
  if (const auto* value = node.attribute<Tensor>("value")) return wrap(*value);
  if (const auto value = view.value_float()) return at::scalar_tensor(*value);
  if (const auto value = view.value_int()) return at::scalar_tensor(*value, at::kLong);
  if (const auto values = view.value_floats()) return at::tensor(*values);
  return at::tensor(view.value_ints().value(), at::kLong);
}

at::Tensor shape_of(const PlanContext& context) {
  const nodes::Shape view(context.node());
  const auto dims = context.shape(0).dims();
  const auto rank = std::int64_t(dims.size());
  const auto place = [&](std::int64_t i) {
    return std::clamp<std::int64_t>(i < 0 ? i + rank : i, 0, rank);
  };
  const std::int64_t begin = place(view.start());
  const std::int64_t end = std::max(begin, place(view.end().value_or(rank)));
  return at::tensor(at::IntArrayRef(dims.data() + begin, dims.data() + end), at::kLong);
}

/// A value known when the node is planned.
class Known final : public TorchKernel {
 public:
  Known(const PlanContext& context, at::Tensor (*value)(const PlanContext&))
      : TorchKernel(context), value_(value(context).to(device())) {}

  void call(Inputs, Results results, const Random&) const override { results[0] = value_.clone(); }
  bool reads_values() const override { return false; }
  KernelTraits traits() const override { return kBackwardReadsNothing; }

 protected:
  void run(OpContext& context) override { out(context, 0).copy_(value_); }

 private:
  at::Tensor value_;
};

template <class View>
void add_known(OperatorRegistry& registry, at::Tensor (*value)(const PlanContext&),
               Support (*check)(const PlanContext&)) {
  add<Known, View>(registry, check, value);
}

Support is_number(const PlanContext& context) {
  for (const char* name : {"value_string", "value_strings", "sparse_value"}) {
    if (context.node().attributes.contains(name)) return {std::string("Constant with ") + name};
  }
  return stores(context);
}

class ConstantOfShape final : public TorchKernel {
 public:
  explicit ConstantOfShape(const PlanContext& context)
      : TorchKernel(context),
        sizes_(sizes_of(context.output(0).shape).vec()),
        type_(scalar_type(context.output(0).dtype)) {
    if (const auto* value = node().attribute<Tensor>("value")) value_ = wrap(*value).item();
  }

  void call(Inputs, Results results, const Random&) const override {
    results[0] = at::full(sizes_, value_, of_type(type_));
  }

 protected:
  void run(OpContext& context) override { out(context, 0).fill_(value_); }

 private:
  Sizes sizes_;
  at::ScalarType type_;
  at::Scalar value_ = 0;
};

/// Shapes: x any; y rank x number of non-zero elements, which is known only at run time.
class NonZero final : public TorchKernel {
 public:
  using TorchKernel::TorchKernel;
  void call(Inputs inputs, Results results, const Random&) const override {
    results[0] = at::nonzero(inputs[0]).t();
  }
};

class Cast final : public TorchKernel {
 public:
  explicit Cast(const PlanContext& context)
      : TorchKernel(context),
        type_(scalar_type(context.output(0).dtype)),
        saturates_(nodes::Cast(node()).saturate() != 0) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    results[0] = is_float8(type_) ? to_float8(inputs[0], type_, saturates_) : inputs[0].to(type_);
  }

 protected:
  void run(OpContext& context) override {
    if (is_float8(type_)) return TorchKernel::run(context);
    out(context, 0).copy_(in(context, 0));
  }

 private:
  at::ScalarType type_;
  bool saturates_;
};

/// Reinterprets bits as another type, without a gradient.
class BitCast final : public TorchKernel {
 public:
  explicit BitCast(const PlanContext& context)
      : TorchKernel(context), type_(scalar_type(context.output(0).dtype)) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    results[0] = inputs[0].detach().view(type_);
  }

 private:
  at::ScalarType type_;
};

Support casts_by_number(const PlanContext& context) {
  if (context.node().opset < 6) return {"Cast to a type given by name (opset < 6)"};
  const auto to = static_cast<DType>(nodes::Cast(context.node()).to());
  if (!has_scalar_type(to)) return {"Cast to " + std::string(name_of(to))};
  return converts(context);
}

}  // namespace

void register_creation(OperatorRegistry& registry) {
  add_known<nodes::Constant>(
      registry, [](const PlanContext& context) { return constant_of(context.node()); }, is_number);
  add_known<nodes::Shape>(registry, shape_of, stores);
  add_known<nodes::Size>(
      registry,
      [](const PlanContext& context) {
        return at::scalar_tensor(context.shape(0).elements(), at::kLong);
      },
      stores);
  add<ConstantOfShape, nodes::ConstantOfShape>(registry, stores);
  add<NonZero, nodes::NonZero>(registry, computes);
  add<Cast, nodes::Cast>(registry, casts_by_number);
  add<Cast, nodes::CastLike>(registry, converts);
  add<BitCast, nodes::BitCast>(registry, stores);
}

}  // namespace d5::torch

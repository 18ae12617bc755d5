// SPDX-License-Identifier: Apache-2.0
// Operators that move whole tensors: Transpose, Concat, Split, Expand, Tile, Where, Trilu.
#include <ATen/ops/cat.h>
#include <ATen/ops/tril.h>
#include <ATen/ops/triu.h>
#include <ATen/ops/where.h>

#include <algorithm>

#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

namespace nodes = onnx::nodes;

class Transpose final : public TorchKernel {
 public:
  explicit Transpose(const PlanContext& context)
      : TorchKernel(context), order_(nodes::Transpose(node()).perm().value_or(Sizes())) {
    if (!order_.empty()) return;
    for (auto i = std::int64_t(context.shape(0).rank()); i-- > 0;) order_.push_back(i);
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    results[0] = inputs[0].permute(order_);
  }
  KernelTraits traits() const override { return kBackwardReadsNothing; }

 protected:
  void run(OpContext& context) override { out(context, 0).copy_(in(context, 0).permute(order_)); }
  void differentiate(GradContext& context) override {
    grad_in(context, 0).permute(order_).copy_(grad_out(context, 0));
  }

 private:
  Sizes order_;
};

class Concat final : public TorchKernel {
 public:
  explicit Concat(const PlanContext& context)
      : TorchKernel(context),
        axis_(std::int64_t(normalize_axis(nodes::Concat(node()).axis().value_or(1),
                                          context.shape(0).rank(), context.who()))) {
    for (std::size_t i = 0; i < context.input_count(); ++i) {
      sizes_.push_back(context.shape(i)[std::size_t(axis_)]);
    }
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    results[0] = at::cat(at::TensorList(inputs.data(), inputs.size()), axis_);
  }
  KernelTraits traits() const override { return kBackwardReadsNothing; }

 protected:
  void run(OpContext& context) override {
    const Inputs parts = arguments(context);
    at::cat_out(out(context, 0), at::TensorList(parts.data(), parts.size()), axis_);
  }
  void differentiate(GradContext& context) override {
    const at::Tensor& dy = grad_out(context, 0);
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      if (context.wants_grad(i)) grad_in(context, i).copy_(dy.narrow(axis_, begin, sizes_[i]));
      begin += sizes_[i];
    }
  }

 private:
  std::int64_t axis_;
  Sizes sizes_;  // along the axis
};

class Split final : public TorchKernel {
  using View = nodes::Split;

 public:
  explicit Split(const PlanContext& context)
      : TorchKernel(context),
        axis_(std::int64_t(normalize_axis(View(node()).axis().value_or(0), context.shape(0).rank(),
                                          context.who()))) {
    const auto split = context.integers(View::In::split, View(node()).split());
    if (split.given()) {
      sizes_ = split.values();
    } else {  // equal parts, a smaller last one
      const std::int64_t whole = context.shape(0)[std::size_t(axis_)];
      const auto count = std::int64_t(node().outputs.size());
      const std::int64_t part = (whole + count - 1) / count;
      sizes_.assign(node().outputs.size(), part);
      sizes_.back() = whole - part * (count - 1);
    }
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < results.size(); ++i) {
      results[i] = inputs[0].narrow(axis_, begin, sizes_[i]);
      begin += sizes_[i];
    }
  }

 private:
  std::int64_t axis_;
  Sizes sizes_;  // along the axis
};

class Expand final : public TorchKernel {
 public:
  explicit Expand(const PlanContext& context)
      : TorchKernel(context), sizes_(sizes_of(context.output(0).shape).vec()) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    results[0] = inputs[0].expand(sizes_);
  }

 protected:
  void run(OpContext& context) override { out(context, 0).copy_(in(context, 0)); }

 private:
  Sizes sizes_;
};

class Tile final : public TorchKernel {
 public:
  explicit Tile(const PlanContext& context)
      : TorchKernel(context), repeats_(context.integers(nodes::Tile::In::repeats).values()) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    results[0] = inputs[0].repeat(repeats_);
  }

 private:
  Sizes repeats_;
};

Support repeats_as_input(const PlanContext& context) {
  if (context.node().opset < 6) return {"Tile with an axis (opset < 6)"};
  return stores(context);
}

class Where final : public TorchKernel {
 public:
  using TorchKernel::TorchKernel;

  void call(Inputs inputs, Results results, const Random&) const override {
    results[0] = at::where(inputs[0], inputs[1], inputs[2]);
  }

 protected:
  void run(OpContext& context) override {
    at::where_out(out(context, 0), in(context, 0), in(context, 1), in(context, 2));
  }
};

/// One triangle of the last two dimensions. Its first diagonal is read in each run: it affects no
/// shape, and need not be constant.
class Trilu final : public TorchKernel {
  using View = nodes::Trilu;

 public:
  explicit Trilu(const PlanContext& context)
      : TorchKernel(context), upper_(View(node()).upper() != 0) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor& x = inputs[0];
    const bool given = inputs.size() > View::In::k && inputs[View::In::k].defined();
    const std::int64_t k = given ? inside(x, inputs[View::In::k].item<std::int64_t>()) : 0;
    results[0] = upper_ ? at::triu(x, k) : at::tril(x, k);
  }
  KernelTraits traits() const override {
    return {.backward_reads_inputs = {View::In::k}, .backward_reads_outputs = {}};
  }

 protected:
  void run(OpContext& context) override { cut(context, in(context, 0), out(context, 0)); }
  void differentiate(GradContext& context) override {
    cut(context, grad_out(context, 0), grad_in(context, 0));
  }

 private:
  /// Clamps k to the corners, beyond which nothing changes but torch's sums with k would overflow.
  static std::int64_t inside(const at::Tensor& x, std::int64_t k) {
    return std::clamp(k, -x.size(-2), x.size(-1));
  }
  template <class Context>
  void cut(const Context& context, const at::Tensor& x, at::Tensor& y) {
    const bool given = context.has_input(View::In::k);
    const std::int64_t k =
        given ? inside(x, in(context, View::In::k).template item<std::int64_t>()) : 0;
    if (upper_) {
      at::triu_out(y, x, k);
    } else {
      at::tril_out(y, x, k);
    }
  }

  bool upper_;
};

}  // namespace

void register_rearrange(OperatorRegistry& registry) {
  add<Transpose, nodes::Transpose>(registry, stores);
  add<Concat, nodes::Concat>(registry, stores);
  add<Split, nodes::Split>(registry, stores);
  add<Expand, nodes::Expand>(registry, stores);
  add<Tile, nodes::Tile>(registry, repeats_as_input);
  add<Where, nodes::Where>(registry, stores);
  add<Trilu, nodes::Trilu>(registry, computes);
}

}  // namespace d5::torch

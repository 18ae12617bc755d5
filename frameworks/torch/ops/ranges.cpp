// SPDX-License-Identifier: Apache-2.0
// Tensors computed from numbers and positions: Range, EyeLike, OneHot.
#include <ATen/ops/arange.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

namespace nodes = onnx::nodes;

class Range final : public TorchKernel {
  using View = nodes::Range;

 public:
  explicit Range(const PlanContext& context)
      : TorchKernel(context),
        size_(context.output(0).shape[0]),
        type_(scalar_type(context.output(0).dtype)),
        computed_(type_) {
    if (type_ == at::kHalf || type_ == at::kBFloat16) {
      computed_ = scalar_type(static_cast<DType>(View(node()).stash_type()));
    }
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor start = inputs[View::In::start].to(computed_).reshape({});
    const at::Tensor delta = inputs[View::In::delta].to(computed_).reshape({});
    results[0] = (at::arange(size_, of_type(computed_)) * delta + start).to(type_);
  }

 private:
  std::int64_t size_;
  at::ScalarType type_, computed_;
};

class EyeLike final : public TorchKernel {
 public:
  explicit EyeLike(const PlanContext& context)
      : TorchKernel(context),
        sizes_(sizes_of(context.output(0).shape).vec()),
        type_(scalar_type(context.output(0).dtype)),
        k_(std::clamp(nodes::EyeLike(node()).k(), -sizes_[0], sizes_[1])) {}

  void call(Inputs, Results results, const Random&) const override {
    results[0] = at::zeros(sizes_, of_type(type_));
    results[0].diagonal(k_).fill_(1);
  }
  bool reads_values() const override { return false; }
  KernelTraits traits() const override { return kBackwardReadsNothing; }

 private:
  Sizes sizes_;
  at::ScalarType type_;
  std::int64_t k_;
};

class OneHot final : public TorchKernel {
  using View = nodes::OneHot;

 public:
  explicit OneHot(const PlanContext& context)
      : TorchKernel(context),
        axis_(std::int64_t(
            normalize_axis(View(node()).axis(), context.output(0).shape.rank(), context.who()))) {
    const Shape& y = context.output(0).shape;
    Sizes sizes(y.rank(), 1);
    sizes[std::size_t(axis_)] = depth_ = y[std::size_t(axis_)];
    classes_ = at::arange(depth_, at::kDouble).reshape(sizes).to(device());
  }

  /// In double every class that fits into memory is exact, and an invalid class stays invalid.
  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor places = inputs[View::In::indices].to(at::kDouble).trunc().unsqueeze(axis_);
    const at::Tensor wanted = at::where(places < 0, places + double(depth_), places);
    const at::Tensor& values = inputs[View::In::values];
    results[0] = at::where(wanted == classes_, values.select(0, 1), values.select(0, 0));
  }

 private:
  std::int64_t axis_, depth_;
  at::Tensor classes_;
};

}  // namespace

void register_ranges(OperatorRegistry& registry) {
  add<Range, nodes::Range>(registry, stores);
  add<EyeLike, nodes::EyeLike>(registry, stores);
  add<OneHot, nodes::OneHot>(registry, stores);
}

}  // namespace d5::torch

// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/_log_softmax.h>
#include <ATen/ops/_log_softmax_backward_data.h>
#include <ATen/ops/_softmax.h>
#include <ATen/ops/_softmax_backward_data.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/scatter.h>
#include <ATen/ops/zeros_like.h>

#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

struct Kind {
  decltype(&at::_softmax) call;
  decltype(&at::_softmax_out) write;
  decltype(&at::_softmax_backward_data_out) gradient;
};

/// Before opset 13 all dimensions from `axis` on are normalized together.
class Softmax final : public TorchKernel {
 public:
  Softmax(const PlanContext& context, Kind kind) : TorchKernel(context), kind_(kind) {
    const Shape& x = context.shape(0);
    dim_ = onnx::nodes::Softmax(node()).axis();
    if (dim_ < 0) dim_ += std::int64_t(x.rank());
    joins_ = node().opset < 13;
    if (!joins_) return;
    const auto axis = std::size_t(dim_);
    matrix_ = {x.elements(0, axis), x.elements(axis, x.rank())};
    dim_ = 1;
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    results[0] =
        kind_.call(joined(inputs[0]), dim_, /*half_to_float=*/false).view(inputs[0].sizes());
  }
  KernelTraits traits() const override { return {.backward_reads_inputs = {}}; }

 protected:
  void run(OpContext& context) override {
    at::Tensor y = joined(out(context, 0));
    kind_.write(y, joined(in(context, 0)), dim_, false);
  }
  void differentiate(GradContext& context) override {
    at::Tensor dx = joined(grad_in(context, 0));
    const at::Tensor& y = out(context, 0);
    kind_.gradient(dx, joined(grad_out(context, 0)), joined(y), dim_, y.scalar_type());
  }

 private:
  at::Tensor joined(const at::Tensor& x) const { return joins_ ? x.view(matrix_) : x; }

  Kind kind_;
  std::int64_t dim_;
  bool joins_;
  Sizes matrix_;
};

/// 1 at the first of the largest elements along the axis, 0 elsewhere; merges dimensions like
/// Softmax.
class Hardmax final : public TorchKernel {
 public:
  explicit Hardmax(const PlanContext& context)
      : TorchKernel(context), dim_(front(onnx::nodes::Hardmax(node()).axis(), context)) {
    const Shape& x = context.shape(0);
    const auto axis = std::size_t(dim_);
    lines_ = {x.elements(0, axis), x[axis], x.elements(axis + 1, x.rank())};
    if (node().opset < 13) lines_ = {lines_[0], lines_[1] * lines_[2], 1};
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor x = inputs[0].reshape(lines_);
    const at::Tensor places = at::argmax(x, 1, /*keepdim=*/true);
    results[0] = at::scatter(at::zeros_like(x), 1, places, 1).reshape(inputs[0].sizes());
  }

 private:
  std::int64_t dim_;
  Sizes lines_;
};

}  // namespace

void register_softmax(OperatorRegistry& registry) {
  add<Softmax, onnx::nodes::Softmax>(
      registry, computes, Kind{at::_softmax, at::_softmax_out, at::_softmax_backward_data_out});
  add<Softmax, onnx::nodes::LogSoftmax>(
      registry, computes,
      Kind{at::_log_softmax, at::_log_softmax_out, at::_log_softmax_backward_data_out});
  add<Hardmax, onnx::nodes::Hardmax>(registry, computes_some);
}

}  // namespace d5::torch

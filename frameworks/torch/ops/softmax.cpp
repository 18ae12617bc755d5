// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/_log_softmax.h>
#include <ATen/ops/_log_softmax_backward_data.h>
#include <ATen/ops/_softmax.h>
#include <ATen/ops/_softmax_backward_data.h>

#include "d5/onnx/nodes.hpp"
#include "torch_operator.hpp"

namespace d5::torch {
namespace {

struct Kind {
  decltype(&at::_softmax) call;
  decltype(&at::_softmax_out) write;
  decltype(&at::_softmax_backward_data_out) gradient;
};

/// Before opset 13 all dimensions from `axis` on are normalized together, as one.
class Softmax final : public TorchOperator {
 public:
  Softmax(const onnx::Node& node, Kind kind)
      : TorchOperator(node), kind_(kind), axis_(onnx::nodes::Softmax(this->node()).axis()) {}

  Results call(Inputs inputs, const Call&) const override {
    const at::Tensor x = joined(inputs[0]);
    return {kind_.call(x, dim(inputs[0]), /*half_to_float=*/false).view(inputs[0].sizes())};
  }
  bool backward_needs_input(std::size_t) const override { return false; }
  bool backward_needs_output(std::size_t) const override { return true; }

 protected:
  void run(OpContext& context) override {
    at::Tensor y = joined(out(context, 0));
    kind_.write(y, joined(in(context, 0)), dim(out(context, 0)), false);
  }
  void differentiate(GradContext& context) override {
    at::Tensor dx = joined(grad_in(context, 0));
    const at::Tensor& y = out(context, 0);
    kind_.gradient(dx, joined(grad_out(context, 0)), joined(y), dim(y), y.scalar_type());
  }

 private:
  std::int64_t dim(const at::Tensor& x) const {
    const std::int64_t front = axis_ < 0 ? axis_ + x.dim() : axis_;
    return node().opset >= 13 ? front : 1;
  }
  at::Tensor joined(const at::Tensor& x) const {
    if (node().opset >= 13) return x;
    std::int64_t rows = 1;
    const std::int64_t front = axis_ < 0 ? axis_ + x.dim() : axis_;
    for (std::int64_t i = 0; i < front; ++i) rows *= x.size(i);
    return x.view({rows, rows == 0 ? 0 : x.numel() / rows});
  }

  Kind kind_;
  std::int64_t axis_;
};

}  // namespace

void register_softmax(OperatorRegistry& registry) {
  add<Softmax>(registry, "Softmax", {},
               Kind{at::_softmax, at::_softmax_out, at::_softmax_backward_data_out});
  add<Softmax>(registry, "LogSoftmax", {},
               Kind{at::_log_softmax, at::_log_softmax_out, at::_log_softmax_backward_data_out});
}

}  // namespace d5::torch

// SPDX-License-Identifier: Apache-2.0
// Convolution, 1 to 3 spatial dimensions.
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/sum.h>

#include "d5/onnx/nodes.hpp"
#include "ops/window.hpp"
#include "result_memory.hpp"
#include "torch_operator.hpp"

namespace d5::torch {
namespace {

using View = onnx::nodes::Conv;

/// Shapes: x N,C,spatial; w M,C/group,kernel; b M; y N,M,spatial.
class Conv final : public TorchOperator {
 public:
  explicit Conv(const onnx::Node& node) : TorchOperator(node), group_(View(this->node()).group()) {}

  void plan(PlanContext& context) override {
    window_ = window(sizes_of(context.shape(View::In::X)), sizes_of(context.shape(View::In::W)));
  }

  Results call(Inputs inputs, const Call&) const override {
    const at::Tensor bias = inputs.size() > View::In::B ? inputs[View::In::B] : at::Tensor();
    const at::Tensor &x = inputs[View::In::X], &w = inputs[View::In::W];
    const auto make = [&] { return window(x.sizes(), w.sizes()); };
    return {convolve(x, w, bias, last_window_.of(x.sizes(), w.sizes(), make))};
  }

  bool backward_needs_input(std::size_t i) const override { return i != View::In::B; }

 protected:
  void run(OpContext& context) override {
    ResultMemory memory;  // convolution has no out variant that writes directly
    memory.offer(out(context, View::Out::Y));
    memory.deliver(convolve(
        in(context, View::In::X), in(context, View::In::W),
        context.has_input(View::In::B) ? in(context, View::In::B) : at::Tensor(), *window_));
  }

  void differentiate(GradContext& context) override {
    const std::array<bool, 3> wanted = {context.wants_grad(0), context.wants_grad(1),
                                        context.wants_grad(2)};
    const Window& window = *window_;
    const bool pad = !window.symmetric();
    const at::Tensor& w = in(context, View::In::W);
    const at::Tensor& x = in(context, View::In::X);
    const std::vector<std::int64_t> none(window.kernel.size(), 0);
    const std::int64_t bias_size = w.size(0);
    ResultMemory memory;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      memory.offer(wanted[i] ? grad_in(context, i) : at::Tensor());
    }
    auto [dx, dw, db] = at::convolution_backward(grad_out(context, 0), pad ? window.pad(x, 0) : x,
                                                 w, at::IntArrayRef(bias_size), window.strides,
                                                 pad ? none : window.begin, window.dilations,
                                                 /*transposed=*/false, none, group_, wanted);
    for (std::size_t i = 0; pad && wanted[0] && i < window.kernel.size(); ++i) {
      const auto dim = std::int64_t(i) + 2;
      dx = dx.narrow(dim, window.begin[i], x.size(dim));
    }
    memory.deliver({dx, dw, db});
  }

 private:
  Window window(at::IntArrayRef x, at::IntArrayRef w) const {
    return Window::of(View(node()), std::vector<std::int64_t>(w.begin() + 2, w.end()), x);
  }

  at::Tensor convolve(const at::Tensor& x, const at::Tensor& w, const at::Tensor& b,
                      const Window& window) const {
    const std::optional<at::Tensor> bias = b.defined() ? std::optional(b) : std::nullopt;
    const std::vector<std::int64_t> none(window.kernel.size(), 0);
    if (window.symmetric()) {
      return at::convolution(x, w, bias, window.strides, window.begin, window.dilations, false,
                             none, group_);
    }
    return at::convolution(window.pad(x, 0), w, bias, window.strides, none, window.dilations, false,
                           none, group_);
  }

  std::int64_t group_;
  std::optional<Window> window_;
  WindowMemory last_window_;
};

}  // namespace

void register_conv(OperatorRegistry& registry) { add<Conv>(registry, "Conv"); }

}  // namespace d5::torch

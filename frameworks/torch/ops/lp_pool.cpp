// SPDX-License-Identifier: Apache-2.0
// The p-norm of the elements under a window, 1 to 3 spatial dimensions, or of all elements.
#include <ATen/ops/convolution.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <numeric>

#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"
#include "torch_window.hpp"

namespace d5::torch {
namespace {

namespace nodes = onnx::nodes;

template <class View>
double power_of(const View& view) {
  return view.node().opset < 2 ? double(view.p_v1()) : double(view.p());
}

/// y = (sum of |x|^p)^(1/p): the sums are convolutions with ones.
class LpPool final : public TorchKernel {
  using View = nodes::LpPool;

 public:
  explicit LpPool(const PlanContext& context)
      : TorchKernel(context),
        p_(power_of(View(node()))),
        window_(TorchWindow::of_pooling(View(node()), context)),
        ones_({1, 1}),
        sizes_(sizes_of(context.output(0).shape).vec()) {
    ones_.insert(ones_.end(), window_.kernel.begin(), window_.kernel.end());
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor x = lifted(widened(inputs[0]));
    const at::Tensor powers = window_.pad(x.abs().pow(p_), 0).flatten(0, 1).unsqueeze(1);
    const at::Tensor sums = at::convolution(powers, at::ones(ones_, x.options()), {},
                                            window_.strides, window_.zeros, window_.dilations,
                                            /*transposed=*/false, window_.zeros, 1);
    // The slope of a root at zero is infinite.
    const at::Tensor nothing = sums == 0;
    const at::Tensor y = at::where(nothing, at::zeros_like(sums),
                                   at::where(nothing, at::ones_like(sums), sums).pow(1 / p_));
    results[0] = y.reshape(sizes_).to(inputs[0].scalar_type());
  }

 private:
  double p_;
  TorchWindow window_;
  Sizes ones_;  // a filter of ones
  Sizes sizes_;
};

class GlobalLpPool final : public TorchKernel {
  using View = nodes::GlobalLpPool;

 public:
  explicit GlobalLpPool(const PlanContext& context)
      : TorchKernel(context), p_(power_of(View(node()))), dims_(context.shape(0).rank() - 2) {
    std::iota(dims_.begin(), dims_.end(), 2);
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor x = widened(inputs[0]);
    results[0] = at::linalg_vector_norm(x, p_, dims_, /*keepdim=*/true).to(inputs[0].scalar_type());
  }

 private:
  double p_;
  Sizes dims_;
};

}  // namespace

void register_lp_pool(OperatorRegistry& registry) {
  add<LpPool, nodes::LpPool>(registry, computes_some);
  add<GlobalLpPool, nodes::GlobalLpPool>(registry, computes_some);
}

}  // namespace d5::torch

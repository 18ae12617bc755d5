// SPDX-License-Identifier: Apache-2.0
// CumSum and CumProd: sums and products of the elements up to each element along an axis.
#include <ATen/ops/cat.h>
#include <ATen/ops/cumprod.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/full.h>

#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

namespace nodes = onnx::nodes;

at::Tensor sums(const at::Tensor& x, std::int64_t axis) {
  return at::cumsum(x, axis, x.scalar_type());
}
at::Tensor products(const at::Tensor& x, std::int64_t axis) {
  return at::cumprod(x, axis, x.scalar_type());
}

class Cumulative final : public TorchKernel {
 public:
  /// `first`: the first element of an exclusive row.
  Cumulative(const PlanContext& context, at::Tensor (*along)(const at::Tensor&, std::int64_t),
             int first)
      : TorchKernel(context),
        along_(along),
        first_(first),
        exclusive_(nodes::CumSum(node()).exclusive() != 0),
        reverse_(nodes::CumSum(node()).reverse() != 0) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    const std::string who = onnx::describe(node());
    const auto axis =
        std::int64_t(normalize_axis(inputs[1].item().toLong(), std::size_t(inputs[0].dim()), who));
    at::Tensor x = reverse_ ? inputs[0].flip(axis) : inputs[0];
    if (exclusive_ && x.size(axis) > 0) {
      at::DimVector sizes(x.sizes().begin(), x.sizes().end());
      sizes[std::size_t(axis)] = 1;
      x = at::cat({at::full(sizes, first_, x.options()), x.narrow(axis, 0, x.size(axis) - 1)},
                  axis);
    }
    const at::Tensor y = along_(x, axis);
    results[0] = reverse_ ? y.flip(axis) : y;
  }

 private:
  at::Tensor (*along_)(const at::Tensor&, std::int64_t);
  int first_;
  bool exclusive_, reverse_;
};

}  // namespace

void register_cumulative(OperatorRegistry& registry) {
  add<Cumulative, nodes::CumSum>(registry, computes, &sums, 0);
  add<Cumulative, nodes::CumProd>(registry, computes, &products, 1);
}

}  // namespace d5::torch

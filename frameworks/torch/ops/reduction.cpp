// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/amax.h>
#include <ATen/ops/amin.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/argmin.h>
#include <ATen/ops/div.h>
#include <ATen/ops/full.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/prod.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/sum.h>

#include <algorithm>
#include <limits>

#include "d5/onnx/nodes.hpp"
#include "torch_operator.hpp"

namespace d5::torch {
namespace {

using Sizes = std::vector<std::int64_t>;
/// The reduction of `x` over `dims`, which are not empty; dimensions stay, with size 1.
using Reduce = at::Tensor (*)(const at::Tensor& x, at::IntArrayRef dims);

/// Sums in the input's own type; torch would widen integers.
at::Tensor sum(const at::Tensor& x, at::IntArrayRef dims) {
  return at::sum(x, dims, true, x.scalar_type());
}
at::Tensor mean(const at::Tensor& x, at::IntArrayRef dims) {
  if (at::isFloatingType(x.scalar_type())) return at::mean(x, dims, true);
  std::int64_t count = 1;
  for (auto dim : dims) count *= x.size(dim);
  return at::div(sum(x, dims), at::scalar_tensor(count, x.options()), "trunc");
}
at::Tensor product(const at::Tensor& x, at::IntArrayRef dims) {
  at::Tensor y = x;
  for (auto dim : dims) y = at::prod(y, dim, true, x.scalar_type());
  return y;
}

/// The largest (smallest) element; of none, the smallest (largest) there is.
at::Tensor of_none(const at::Tensor& x, at::IntArrayRef dims, bool largest) {
  Sizes sizes = x.sizes().vec();
  for (auto dim : dims) sizes[std::size_t(dim)] = 1;
  at::Scalar value;
  const double infinity = std::numeric_limits<double>::infinity();
  switch (x.scalar_type()) {
    case at::kBool:
      value = !largest;
      break;
    case at::kByte:
      value = largest ? 0 : 255;
      break;
    case at::kChar:
      value = largest ? -128 : 127;
      break;
    case at::kInt:
      value = largest ? std::numeric_limits<std::int32_t>::lowest()
                      : std::numeric_limits<std::int32_t>::max();
      break;
    case at::kLong:
      value = largest ? std::numeric_limits<std::int64_t>::lowest()
                      : std::numeric_limits<std::int64_t>::max();
      break;
    default:
      value = largest ? -infinity : infinity;
  }
  return at::full(sizes, value, x.options());
}
at::Tensor largest(const at::Tensor& x, at::IntArrayRef dims) {
  return x.numel() == 0 ? of_none(x, dims, true) : at::amax(x, dims, true);
}
at::Tensor smallest(const at::Tensor& x, at::IntArrayRef dims) {
  return x.numel() == 0 ? of_none(x, dims, false) : at::amin(x, dims, true);
}

at::Tensor l1(const at::Tensor& x, at::IntArrayRef dims) { return sum(x.abs(), dims); }
at::Tensor sum_square(const at::Tensor& x, at::IntArrayRef dims) { return sum(x * x, dims); }
at::Tensor l2(const at::Tensor& x, at::IntArrayRef dims) {
  return sum_square(x, dims).sqrt().to(x.scalar_type());
}
at::Tensor log_sum(const at::Tensor& x, at::IntArrayRef dims) {
  return sum(x, dims).log().to(x.scalar_type());
}
at::Tensor log_sum_exp(const at::Tensor& x, at::IntArrayRef dims) {
  return at::logsumexp(x, dims, true).to(x.scalar_type());
}

/// Shapes: y is x with the reduced dimensions of size 1, or without them.
class Reduction final : public TorchOperator {
 public:
  Reduction(const onnx::Node& node, Reduce reduce) : TorchOperator(node), reduce_(reduce) {
    keep_ = onnx::nodes::ReduceSum(this->node()).keepdims() != 0;
  }

  Results call(Inputs inputs, const Call&) const override {
    const at::Tensor& x = inputs[0];
    const onnx::nodes::ReduceSum view(node());
    Sizes axes = view.axes().value_or(Sizes());
    if (inputs.size() > 1 && inputs[1].defined()) axes = integers(inputs[1]);
    if (axes.empty()) {
      // Nothing is reduced, but what the operator does to single elements is done.
      if (view.noop_with_empty_axes() != 0) return {reduce_(x.unsqueeze(0), {0}).squeeze(0)};
      for (std::int64_t i = 0; i < x.dim(); ++i) axes.push_back(i);
    }
    if (x.dim() == 0) return {reduce_(x.unsqueeze(0), {0}).squeeze(0)};
    for (auto& axis : axes) axis = axis < 0 ? axis + x.dim() : axis;
    at::Tensor y = reduce_(x, axes);
    if (keep_) return {y};
    std::sort(axes.rbegin(), axes.rend());
    for (auto axis : axes) y = y.squeeze(axis);
    return {y};
  }

 private:
  Reduce reduce_;
  bool keep_ = true;
};

class Arg final : public TorchOperator {
 public:
  using Function = at::Tensor (*)(const at::Tensor&, std::optional<std::int64_t>, bool);
  Arg(const onnx::Node& node, Function function) : TorchOperator(node), function_(function) {}

  Results call(Inputs inputs, const Call&) const override {
    const onnx::nodes::ArgMax view(node());
    const at::Tensor& x = inputs[0];
    const std::int64_t axis = view.axis() < 0 ? view.axis() + x.dim() : view.axis();
    if (view.select_last_index() == 0) return {function_(x, axis, view.keepdims() != 0)};
    // The first of the reversed is the last.
    return {x.size(axis) - 1 - function_(x.flip(axis), axis, view.keepdims() != 0)};
  }

 private:
  Function function_;
};

}  // namespace

void register_reduction(OperatorRegistry& registry) {
  add<Reduction>(registry, "ReduceSum", {}, sum);
  add<Reduction>(registry, "ReduceMean", {}, mean);
  add<Reduction>(registry, "ReduceProd", {}, product);
  add<Reduction>(registry, "ReduceMax", {}, largest);
  add<Reduction>(registry, "ReduceMin", {}, smallest);
  add<Reduction>(registry, "ReduceL1", {}, l1);
  add<Reduction>(registry, "ReduceL2", {}, l2);
  add<Reduction>(registry, "ReduceSumSquare", {}, sum_square);
  add<Reduction>(registry, "ReduceLogSum", {}, log_sum);
  add<Reduction>(registry, "ReduceLogSumExp", {}, log_sum_exp);
  add<Arg>(registry, "ArgMax", {}, at::argmax);
  add<Arg>(registry, "ArgMin", {}, at::argmin);
}

}  // namespace d5::torch

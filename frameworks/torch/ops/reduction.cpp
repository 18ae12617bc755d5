// SPDX-License-Identifier: Apache-2.0
#include <ATen/core/DimVector.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/amin.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/argmin.h>
#include <ATen/ops/div.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/movedim.h>
#include <ATen/ops/prod.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/sum.h>

#include <limits>
#include <numeric>

#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

namespace nodes = onnx::nodes;

/// The reduction of `x` over `dims`, which are not empty; it may keep or drop these dimensions.
struct Function {
  at::Tensor (*call)(const at::Tensor& x, at::IntArrayRef dims);
  /// The same for real numbers, at least one, written to `y`; `keep`: dimensions stay.
  at::Tensor& (*write)(at::Tensor& y, const at::Tensor& x, at::IntArrayRef dims,
                       bool keep) = nullptr;
};

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
  if (dims.size() == 1) return at::prod(x, dims[0], true, x.scalar_type());
  // A single product of all elements: products by dimension may overflow when it does not.
  at::DimVector last;
  for (auto i = -std::int64_t(dims.size()); i < 0; ++i) last.push_back(i);
  return at::prod(at::movedim(x, dims, last).flatten(last.front()), -1, false, x.scalar_type());
}

/// The largest (smallest) element; for an empty tensor, the smallest (largest) number of the type.
at::Tensor of_none(const at::Tensor& x, at::IntArrayRef dims, bool largest) {
  at::DimVector sizes(x.sizes().begin(), x.sizes().end());
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

at::Tensor l1(const at::Tensor& x, at::IntArrayRef dims) {
  if (!x.is_floating_point()) return sum(x.abs(), dims);
  return at::linalg_vector_norm(x, 1, dims, true);
}
at::Tensor sum_square(const at::Tensor& x, at::IntArrayRef dims) {
  const at::Tensor wide = widened(x);
  return sum(wide * wide, dims).to(x.scalar_type());
}
/// Torch's norms support only floating-point types.
at::Tensor l2(const at::Tensor& x, at::IntArrayRef dims) {
  if (x.is_floating_point()) return at::linalg_vector_norm(x, 2, dims, true);
  return sum_square(x, dims).sqrt().to(x.scalar_type());
}
at::Tensor log_sum(const at::Tensor& x, at::IntArrayRef dims) {
  return sum(widened(x), dims).log().to(x.scalar_type());
}
at::Tensor log_sum_exp(const at::Tensor& x, at::IntArrayRef dims) {
  return at::logsumexp(x, dims, true).to(x.scalar_type());
}

at::Tensor& write_sum(at::Tensor& y, const at::Tensor& x, at::IntArrayRef dims, bool keep) {
  return at::sum_out(y, x, dims, keep);
}
at::Tensor& write_mean(at::Tensor& y, const at::Tensor& x, at::IntArrayRef dims, bool keep) {
  return at::mean_out(y, x, dims, keep);
}

/// Shapes: y is x with the reduced dimensions of size 1, or without them.
class Reduction final : public TorchKernel {
 public:
  Reduction(const PlanContext& context, Function function)
      : TorchKernel(context), function_(function), sizes_(sizes_of(context.output(0).shape).vec()) {
    const nodes::ReduceSum view(node());
    const Shape& x = context.shape(0);
    direct_ = function_.write && is_floating_point(context.dtype(0)) && x.elements() > 0;
    keep_ = view.keepdims() != 0;
    const auto axes = context.integers(nodes::ReduceSum::In::axes, view.axes());
    if (axes.given()) dims_ = axes.values();
    // Without reduced dimensions the operator's elementwise part is applied.
    single_ = x.rank() == 0 || (dims_.empty() && view.noop_with_empty_axes() != 0);
    if (single_) {
      dims_ = {0};
      keep_ = false;
      return;
    }
    for (auto& dim : dims_) {
      dim = std::int64_t(normalize_axis(dim, x.rank(), context.who()));
    }
    if (dims_.empty()) {
      dims_.resize(x.rank());
      std::iota(dims_.begin(), dims_.end(), 0);
    }
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    results[0] = function_.call(operand(inputs[0]), dims_).reshape(sizes_);
  }

 protected:
  void run(OpContext& context) override {
    if (!direct_) return TorchKernel::run(context);
    function_.write(out(context, 0), operand(in(context, 0)), dims_, keep_);
  }

 private:
  at::Tensor operand(const at::Tensor& x) const { return single_ ? x.unsqueeze(0) : x; }

  Function function_;
  Sizes sizes_, dims_;
  bool direct_, keep_, single_;
};

struct ArgFunction {
  at::Tensor (*call)(const at::Tensor& x, std::optional<std::int64_t> axis, bool keep);
  at::Tensor& (*write)(at::Tensor& y, const at::Tensor& x, std::optional<std::int64_t> axis,
                       bool keep);
};

class Arg final : public TorchKernel {
 public:
  Arg(const PlanContext& context, ArgFunction function)
      : TorchKernel(context), function_(function) {
    const nodes::ArgMax view(node());
    const Shape& x = context.shape(0);
    axis_ = std::int64_t(normalize_axis(view.axis(), x.rank(), context.who()));
    keep_ = view.keepdims() != 0;
    if (view.select_last_index() != 0) last_ = x[std::size_t(axis_)] - 1;
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor& x = inputs[0];
    // The first element of the reversed tensor is the last one.
    results[0] = last_ ? *last_ - function_.call(x.flip(axis_), axis_, keep_)
                       : function_.call(x, axis_, keep_);
  }

 protected:
  void run(OpContext& context) override {
    if (last_) return TorchKernel::run(context);
    function_.write(out(context, 0), in(context, 0), axis_, keep_);
  }

 private:
  ArgFunction function_;
  std::int64_t axis_;
  bool keep_;
  std::optional<std::int64_t> last_;  ///< place; set where the last of equal elements is meant
};

/// Torch divides by zero for the mean of no integers.
Support has_mean(const PlanContext& context) {
  if (!is_floating_point(context.dtype(0)) && context.input(0).elements() == 0) {
    return {"the mean of an empty integer tensor"};
  }
  return computes(context);
}

/// Rows of the tables.
template <class View>
void add_reduction(OperatorRegistry& registry, Function function,
                   Support (*check)(const PlanContext&) = computes) {
  add<Reduction, View>(registry, check, function);
}
template <class View>
void add_arg(OperatorRegistry& registry, ArgFunction function) {
  add<Arg, View>(registry, computes, function);
}

}  // namespace

void register_reduction(OperatorRegistry& registry) {
  add_reduction<nodes::ReduceSum>(registry, {sum, write_sum});
  add_reduction<nodes::ReduceMean>(registry, {mean, write_mean}, has_mean);
  add_reduction<nodes::ReduceProd>(registry, {product});
  add_reduction<nodes::ReduceMax>(registry, {largest, at::amax_out});
  add_reduction<nodes::ReduceMin>(registry, {smallest, at::amin_out});
  add_reduction<nodes::ReduceL1>(registry, {l1});
  add_reduction<nodes::ReduceL2>(registry, {l2});
  add_reduction<nodes::ReduceSumSquare>(registry, {sum_square});
  add_reduction<nodes::ReduceLogSum>(registry, {log_sum});
  add_reduction<nodes::ReduceLogSumExp>(registry, {log_sum_exp});
  add_arg<nodes::ArgMax>(registry, {at::argmax, at::argmax_out});
  add_arg<nodes::ArgMin>(registry, {at::argmin, at::argmin_out});
}

}  // namespace d5::torch

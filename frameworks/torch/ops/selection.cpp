// SPDX-License-Identifier: Apache-2.0
// Operators that select elements: Compress, TopK, Unique.
#include <ATen/ops/_unique2.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/scatter_reduce.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/unique_dim.h>

#include <optional>
#include <tuple>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

namespace nodes = onnx::nodes;

std::optional<std::int64_t> front_if_given(std::optional<std::int64_t> axis,
                                           const PlanContext& context) {
  return axis ? std::optional(front(*axis, context)) : std::nullopt;
}

/// Without an axis the input is flattened.
class Compress final : public TorchKernel {
 public:
  explicit Compress(const PlanContext& context)
      : TorchKernel(context), axis_(front_if_given(nodes::Compress(node()).axis(), context)) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor x = axis_ ? inputs[0] : inputs[0].reshape({-1});
    results[0] = at::index_select(x, axis_.value_or(0), at::nonzero(inputs[1]).reshape({-1}));
  }

 private:
  std::optional<std::int64_t> axis_;
};

/// Torch's topk does not define the order of equal elements; a stable sort does.
class TopK final : public TorchKernel {
  using View = nodes::TopK;

 public:
  explicit TopK(const PlanContext& context)
      : TorchKernel(context),
        axis_(front(View(node()).axis(), context)),
        k_(context.output(0).shape[std::size_t(axis_)]),
        largest_(View(node()).largest() != 0) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    const auto [values, indices] = at::sort(inputs[0], /*stable=*/true, axis_, largest_);
    results[View::Out::Values] = values.narrow(axis_, 0, k_);
    results[View::Out::Indices] = indices.narrow(axis_, 0, k_);
  }

 private:
  std::int64_t axis_, k_;
  bool largest_;
};

class Unique final : public TorchKernel {
  using View = nodes::Unique;

 public:
  explicit Unique(const PlanContext& context)
      : TorchKernel(context),
        axis_(front_if_given(View(node()).axis(), context)),
        sorted_(View(node()).sorted() != 0) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor& x = inputs[0];
    if (x.is_floating_point() && x.isnan().any().item<bool>()) {
      throw Unsupported(onnx::describe(node()) + ": torch treats every NaN as distinct");
    }
    at::Tensor values = x.detach();  // torch has no gradient of what follows
    if (values.scalar_type() == at::kBool) values = values.to(at::kByte);  // it counts no booleans
    auto [sorted, inverse, counts] = axis_ ? at::unique_dim(values, *axis_, true, true, true)
                                           : at::_unique2(values, true, true, true);
    inverse = inverse.reshape({-1});
    const std::int64_t size = inverse.size(0);
    const at::Tensor places = at::arange(size, of_type(at::kLong));
    at::Tensor first = at::full_like(counts, size).scatter_reduce(0, inverse, places, "amin");
    if (!sorted_) {
      const at::Tensor order = first.argsort();
      first = first.index_select(0, order);
      counts = counts.index_select(0, order);
      inverse = order.argsort().index_select(0, inverse);
    }
    const at::Tensor y = at::index_select(axis_ ? x : x.reshape({-1}), axis_.value_or(0), first);
    const at::Tensor all[] = {y, first, inverse, counts};
    for (std::size_t i = 0; i < results.size(); ++i) results[i] = all[i];
  }

 private:
  std::optional<std::int64_t> axis_;
  bool sorted_;
};

/// Torch fails on empty tensors.
Support finds(const PlanContext& context) {
  if (context.shape(0).elements() == 0) return {"Unique of no elements"};
  return computes(context);
}

}  // namespace

void register_selection(OperatorRegistry& registry) {
  add<Compress, nodes::Compress>(registry, stores);
  add<TopK, nodes::TopK>(registry, computes);
  add<Unique, nodes::Unique>(registry, finds);
}

}  // namespace d5::torch

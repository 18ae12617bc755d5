// SPDX-License-Identifier: Apache-2.0
// Reads or writes of elements and slices by index: GatherElements, GatherND, Scatter,
// ScatterElements, ScatterND, TensorScatter.
#include <ATen/ops/arange.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/scatter.h>
#include <ATen/ops/scatter_add.h>
#include <ATen/ops/scatter_reduce.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

namespace nodes = onnx::nodes;

/// Torch's gather and scatter do not support negative indices.
at::Tensor from_front(const at::Tensor& indices, std::int64_t size) {
  const at::Tensor wide = indices.to(at::kLong);
  return at::where(wide < 0, wide + size, wide);
}

/// Writes updates into x along one dimension, or reduces them with x by ONNX's `reduction`.
at::Tensor scattered(const at::Tensor& x, std::int64_t axis, const at::Tensor& places,
                     const at::Tensor& updates, const std::string& reduction) {
  if (reduction == "none") return at::scatter(x, axis, places, updates);
  if (reduction == "add") return at::scatter_add(x, axis, places, updates);
  const char* word = reduction == "mul" ? "prod" : reduction == "max" ? "amax" : "amin";
  return at::scatter_reduce(x, axis, places, updates, word);
}

/// Torch's scatter_reduce supports neither complex numbers nor booleans.
Support scatters(const PlanContext& context) {
  const auto* given = context.node().attribute<std::string>("reduction");
  const std::string reduction = given ? *given : "none";
  if (reduction == "none") return stores(context);
  const DType dtype = context.dtype(0);
  if (dtype == DType::boolean || dtype == DType::complex64 || dtype == DType::complex128) {
    return {context.node().op_type + " with " + reduction + " on " + std::string(name_of(dtype))};
  }
  return computes(context);
}

class GatherElements final : public TorchKernel {
 public:
  explicit GatherElements(const PlanContext& context)
      : TorchKernel(context), axis_(front(nodes::GatherElements(node()).axis(), context)) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    results[0] = at::gather(inputs[0], axis_, from_front(inputs[1], inputs[0].size(axis_)));
  }

 private:
  std::int64_t axis_;
};

/// Scatter and ScatterElements.
class ScatterElements final : public TorchKernel {
 public:
  explicit ScatterElements(const PlanContext& context)
      : TorchKernel(context),
        axis_(front(nodes::ScatterElements(node()).axis(), context)),
        reduction_(nodes::ScatterElements(node()).reduction()) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor places = from_front(inputs[1], inputs[0].size(axis_));
    results[0] = scattered(inputs[0], axis_, places, inputs[2], reduction_);
  }

 private:
  std::int64_t axis_;
  std::string reduction_;
};

/// Coordinates of slices as row numbers of a matrix with one slice per row.
class SliceRows {
 public:
  SliceRows(const PlanContext& context, std::size_t batch_dims) : who_(context.who()) {
    const Shape &x = context.shape(0), &indices = context.shape(1);
    const std::size_t last = indices.rank() - 1, end = batch_dims + std::size_t(indices[last]);
    std::int64_t slices = 1;
    for (std::size_t d = end; d-- > batch_dims; slices *= x[d]) {
      sizes_.insert(sizes_.begin(), x[d]);
      steps_.insert(steps_.begin(), slices);
    }
    batch_ = indices.elements(0, batch_dims);
    entries_ = indices.elements(batch_dims, last);
    slices_ = slices;
    inner_ = x.elements(end, x.rank());
  }

  [[nodiscard]] at::Tensor matrix(const at::Tensor& x) const {
    return x.reshape({batch_ * slices_, inner_});
  }
  [[nodiscard]] at::Tensor updates(const at::Tensor& x) const {
    return x.reshape({batch_ * entries_, inner_});
  }
  /// One row number for each entry of the indices.
  [[nodiscard]] at::Tensor of(const at::Tensor& indices) const {
    at::Tensor rows =
        at::arange(batch_, indices.options().dtype(at::kLong)).mul(slices_).unsqueeze(1);
    rows = rows.expand({batch_, entries_});
    const auto width = std::int64_t(sizes_.size());
    const at::Tensor entries = indices.reshape({batch_, entries_, width});
    for (std::int64_t k = 0; k < width; ++k) {
      const std::int64_t size = sizes_[std::size_t(k)];
      const at::Tensor places = from_front(entries.select(2, k), size);
      // A position outside along one dimension may still give a valid row number.
      if (((places < 0) | (places >= size)).any().item<bool>()) {
        throw ValueError(who_ + ": an index is outside [-" + std::to_string(size) + ", " +
                         std::to_string(size - 1) + "]");
      }
      rows = rows + places * steps_[std::size_t(k)];
    }
    return rows.reshape({batch_ * entries_});
  }

  [[nodiscard]] std::int64_t inner() const { return inner_; }

 private:
  std::string who_;
  Sizes sizes_, steps_;  // for each coordinate; steps in rows
  std::int64_t batch_, entries_, slices_, inner_;
};

class GatherND final : public TorchKernel {
 public:
  explicit GatherND(const PlanContext& context)
      : TorchKernel(context),
        rows_(context, std::size_t(nodes::GatherND(node()).batch_dims())),
        sizes_(sizes_of(context.output(0).shape).vec()) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    results[0] = at::index_select(rows_.matrix(inputs[0]), 0, rows_.of(inputs[1])).reshape(sizes_);
  }

 private:
  SliceRows rows_;
  Sizes sizes_;
};

class ScatterND final : public TorchKernel {
 public:
  explicit ScatterND(const PlanContext& context)
      : TorchKernel(context), rows_(context, 0), reduction_(nodes::ScatterND(node()).reduction()) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor updates = rows_.updates(inputs[2]);
    const at::Tensor places = rows_.of(inputs[1]).unsqueeze(1).expand(updates.sizes());
    results[0] = scattered(rows_.matrix(inputs[0]), 0, places, updates, reduction_)
                     .reshape(inputs[0].sizes());
  }

 private:
  SliceRows rows_;
  std::string reduction_;
};

class TensorScatter final : public TorchKernel {
  using View = nodes::TensorScatter;

 public:
  explicit TensorScatter(const PlanContext& context)
      : TorchKernel(context),
        axis_(front(View(node()).axis(), context)),
        circular_(View(node()).mode() == "circular") {}

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor &past = inputs[View::In::past_cache], &update = inputs[View::In::update];
    if (update.numel() == 0) {  // nor is there a place to count to
      results[0] = past;
      return;
    }
    at::Tensor first = given(inputs, View::In::write_indices)
                           .value_or(at::zeros({past.size(0)}, of_type(at::kLong)));
    if (circular_) first = first.remainder(past.size(axis_));
    at::Tensor places = first.unsqueeze(1) + at::arange(update.size(axis_), of_type(at::kLong));
    if (circular_) places = places.remainder(past.size(axis_));
    at::DimVector sizes(std::size_t(past.dim()), 1);
    sizes[0] = update.size(0);
    sizes[std::size_t(axis_)] = update.size(axis_);
    results[0] = at::scatter(past, axis_, places.reshape(sizes).expand(update.sizes()), update);
  }

 private:
  std::int64_t axis_;
  bool circular_;
};

}  // namespace

void register_indexed(OperatorRegistry& registry) {
  add<GatherElements, nodes::GatherElements>(registry, stores);
  add<GatherND, nodes::GatherND>(registry, stores);
  add<ScatterElements, nodes::Scatter>(registry, stores);
  add<ScatterElements, nodes::ScatterElements>(registry, scatters);
  add<ScatterND, nodes::ScatterND>(registry, scatters);
  add<TensorScatter, nodes::TensorScatter>(registry, stores);
}

}  // namespace d5::torch

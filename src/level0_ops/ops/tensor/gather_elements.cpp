// SPDX-License-Identifier: Apache-2.0
// GatherElements and GatherND: elements or slices of the data, selected by indices.
#include <fmt/format.h>

#include <concepts>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"
#include "level0_ops/kernels/moving/indexed_places.hpp"

namespace d5::ops {
namespace {

namespace nodes = onnx::nodes;
using detail::IndexedPlaces;

/// The gradient sums over repeated elements.
template <class T>
class IndexedGatherKernel final : public Kernel {
 public:
  explicit IndexedGatherKernel(IndexedPlaces indexed) : indexed_(std::move(indexed)) {}

  void forward(OpContext& context) override {
    auto* places = context.scratch_as<std::int64_t>();
    indexed_.find(context.input(1), context.node(), places);
    const T* x = static_cast<const T*>(context.input(0).raw());
    T* y = static_cast<T*>(context.output(0).raw());
    indexed_.visit_any(places, [=](auto place, auto i) { y[i] = x[place]; });
  }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      auto* places = context.scratch_as<std::int64_t>();
      indexed_.find(context.input(1), context.node(), places);
      detail::zero_elements(context.grad_input(0));
      const T* dy = context.grad_output(0).data<T>();
      T* dx = context.grad_input(0).data<T>();
      indexed_.visit(places, [=](auto place, auto i) { dx[place] += dy[i]; });
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {1}, .backward_reads_outputs = {}};
  }

 private:
  IndexedPlaces indexed_;
};

/// A subclass defines the meaning of the indices.
class IndexedGather : public MovingOperator {
 public:
  Places gradients() const override { return {0}; }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const IndexedPlaces indexed = places(context);
    context.request_scratch(indexed.scratch_bytes());
    return detail::moving_kernel_for(context.dtype(0), context, [&]<class T>() {
      return std::make_unique<IndexedGatherKernel<T>>(indexed);
    });
  }

 private:
  [[nodiscard]] virtual IndexedPlaces places(const InferContext& context) const = 0;
};

/// Shapes: indices have the rank of the data, and are not larger except along the axis; y is as the
/// indices.
class GatherElements final : public IndexedGather {
 public:
  explicit GatherElements(const nodes::GatherElements& view) : axis_(view.axis()) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {TensorDesc{context.dtype(0), IndexedPlaces::shape_along_axis(context, axis(context))}};
  }

 private:
  [[nodiscard]] std::size_t axis(const InferContext& context) const {
    return normalize_axis(axis_, context.shape(0).rank(), context.who());
  }
  IndexedPlaces places(const InferContext& context) const override {
    return IndexedPlaces::along_axis(context, axis(context));
  }

  std::int64_t axis_;
};

/// Shapes: data and indices begin with the same b batch dimensions, and the indices end with one of
/// k coordinates; y is indices without the last dimension, followed by the data's dimensions after
/// the first b + k.
class GatherND final : public IndexedGather {
 public:
  explicit GatherND(const nodes::GatherND& view) : batch_dims_(std::size_t(view.batch_dims())) {
    if (view.batch_dims() < 0) {
      throw ValueError(fmt::format("{}: batch_dims is {}, expected 0 or more",
                                   onnx::describe(view.node()), view.batch_dims()));
    }
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {TensorDesc{context.dtype(0), IndexedPlaces::shape_of_slices(context, batch_dims_)}};
  }

 private:
  IndexedPlaces places(const InferContext& context) const override {
    return IndexedPlaces::of_slices(context, batch_dims_);
  }

  std::size_t batch_dims_;
};

}  // namespace

void register_gather_elements(OperatorRegistry& registry) {
  registry.add<GatherElements, nodes::GatherElements>();
  registry.add<GatherND, nodes::GatherND>();
}

}  // namespace d5::ops

// SPDX-License-Identifier: Apache-2.0
// TensorScatter: writes new slices of each sample to a cache, from an index on.
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"

namespace d5::ops {
namespace {

using TensorScatterView = onnx::nodes::TensorScatter;

/// The cache has `batch` samples of `blocks` rows of `length` slices of `inner` elements. The
/// update has `count` slices per row.
struct Cache {
  std::int64_t batch, blocks, length, count, inner;
  bool circular;
};

/// T moves like the element type, forward and backward.
template <class T>
class TensorScatterKernel final : public Kernel {
 public:
  TensorScatterKernel(DType dtype, const Cache& cache) : dtype_(dtype), cache_(cache) {}

  void forward(OpContext& context) override {
    Tensor& present = context.output(0);
    copy_all(present, context.input(TensorScatterView::In::past_cache));
    const T* from = static_cast<const T*>(context.input(TensorScatterView::In::update).raw());
    T* to = static_cast<T*>(present.raw());
    visit(context, [=, n = cache_.inner](auto at, auto i) { std::copy_n(from + i, n, to + at); });
  }

  /// The update gets the gradient of the written slices, the cache that of all others.
  void backward(GradContext& context) override {
    const Tensor& grad = context.grad_output(0);
    if (context.wants_grad(TensorScatterView::In::update)) {
      const T* from = static_cast<const T*>(grad.raw());
      T* to = static_cast<T*>(context.grad_input(TensorScatterView::In::update).raw());
      visit(context, [=, n = cache_.inner](auto at, auto i) { std::copy_n(from + at, n, to + i); });
    }
    if (context.wants_grad(TensorScatterView::In::past_cache)) {
      Tensor& past = context.grad_input(TensorScatterView::In::past_cache);
      copy_all(past, grad);
      T* to = static_cast<T*>(past.raw());
      visit(context, [=, n = cache_.inner](auto at, auto) { std::fill_n(to + at, n, T()); });
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {TensorScatterView::In::write_indices},
            .backward_reads_outputs = {},
            .in_place_output = 0};
  }

 private:
  void copy_all(Tensor& to, const Tensor& from) const {
    detail::copy_elements(dtype_, to.raw(), from.raw(), from.elements());
  }

  /// Calls `f(offset in the cache, offset in the update)` for each slice of the update.
  template <class Context, class F>
  void visit(const Context& context, const F& f) const {
    const auto& [batch, blocks, length, count, inner, circular] = cache_;
    if (count == 0) return;
    for (std::int64_t b = 0; b < batch; ++b) {
      const std::int64_t first = first_slice(context, b);
      for (std::int64_t row = b * blocks; row < (b + 1) * blocks; ++row) {
        for (std::int64_t s = 0; s < count; ++s) {
          // Only circular caches are written past the end.
          const std::int64_t slice = first < length - s ? first + s : first - (length - s);
          f((row * length + slice) * inner, (row * count + s) * inner);
        }
      }
    }
  }

  template <class Context>
  [[nodiscard]] std::int64_t first_slice(const Context& context, std::int64_t sample) const {
    if (!context.has_input(TensorScatterView::In::write_indices)) return 0;
    const std::int64_t index =
        context.input(TensorScatterView::In::write_indices).template data<std::int64_t>()[sample];
    const auto& [batch, blocks, length, count, inner, circular] = cache_;
    if (circular) return (index % length + length) % length;
    if (index < 0 || index > length - count) {
      throw ValueError(
          fmt::format("{}: sample {} is written from {} on, expected 0 to {}: {} "
                      "slices go into {}; mode=circular goes on at the start",
                      context.who(), sample, index, length - count, count, length));
    }
    return index;
  }

  DType dtype_;
  Cache cache_;
};

/// Shapes: the update is as the cache, but may be shorter along the axis; there is one index per
/// sample.
class TensorScatter final : public MovingOperator {
 public:
  explicit TensorScatter(const TensorScatterView& view)
      : axis_(view.axis()), circular_(circular(view.node(), view.mode())) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const TensorDesc& cache = context.input(TensorScatterView::In::past_cache);
    const Shape& update = context.shape(TensorScatterView::In::update);
    const std::size_t axis = axis_of(context);
    Shape expected = cache.shape;
    if (update.rank() == expected.rank()) {
      expected[axis] = std::min(expected[axis], update[axis]);
    }
    if (update != expected) {
      throw ShapeError(
          fmt::format("{}: the update is {}, the cache is {}; only dimension {} may be smaller",
                      context.who(), to_string(update), to_string(cache.shape), axis));
    }
    if (context.has_input(TensorScatterView::In::write_indices)) {
      const Shape &indices = context.shape(TensorScatterView::In::write_indices),
                  batch{cache.shape[0]};
      if (indices != batch) {
        throw ShapeError(fmt::format("{}: write_indices are {}, expected {}", context.who(),
                                     to_string(indices), to_string(batch)));
      }
    }
    return {cache};
  }

  Places gradients() const override {
    return {TensorScatterView::In::past_cache, TensorScatterView::In::update};
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const Shape& past = context.shape(TensorScatterView::In::past_cache);
    const std::size_t axis = axis_of(context);
    const Cache cache{past[0],
                      past.elements(1, axis),
                      past[axis],
                      context.shape(TensorScatterView::In::update)[axis],
                      past.elements(axis + 1, past.rank()),
                      circular_};
    const DType dtype = context.dtype(0);
    return detail::dispatch_by_size(dtype, [&]<class T>() -> std::unique_ptr<Kernel> {
      return std::make_unique<TensorScatterKernel<T>>(dtype, cache);
    });
  }

 private:
  static bool circular(const onnx::Node& node, const std::string& mode) {
    if (mode == "linear") return false;
    if (mode == "circular") return true;
    throw ValueError(fmt::format("{}: mode is {}, expected linear or circular",
                                 onnx::describe(node), printable(mode)));
  }
  [[nodiscard]] std::size_t axis_of(const InferContext& context) const {
    const std::size_t rank = context.shape(TensorScatterView::In::past_cache).rank();
    const std::size_t axis = normalize_axis(axis_, rank, context.who());
    if (axis == 0) {
      throw ValueError(fmt::format("{}: axis is {} of {} dimensions; dimension 0 is the batch",
                                   context.who(), axis_, rank));
    }
    return axis;
  }

  std::int64_t axis_;
  bool circular_;
};

}  // namespace

void register_tensor_scatter(OperatorRegistry& registry) {
  registry.add<TensorScatter, TensorScatterView>();
}

}  // namespace d5::ops

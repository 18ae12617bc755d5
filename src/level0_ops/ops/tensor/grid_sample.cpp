// SPDX-License-Identifier: Apache-2.0
// GridSample: interpolates elements at the coordinates in a grid.
#include <fmt/format.h>

#include <algorithm>
#include <concepts>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/learned_tables/word.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"
#include "level0_ops/kernels/parallel_each.hpp"
#include "level0_ops/kernels/sampling/grid_places.hpp"
#include "level0_ops/kernels/sampling/interpolated.hpp"

namespace d5::ops {
namespace {

using detail::GridRule;
using GridSampleView = onnx::nodes::GridSample;

/// The points of a sample. C is the type of the grid's arithmetic.
template <class C>
class Grid {
 public:
  Grid(const GridRule& rule, const PlanContext& context)
      : rank_(context.shape(GridSampleView::In::X).rank() - 2),
        sizes_(detail::spatial_sizes(context.shape(GridSampleView::In::X))),
        axes_{detail::GridAxis<C>{rule, sizes_[0]}, {rule, sizes_[1]}, {rule, sizes_[2]}} {
    dispatch(FloatTypes{}, context.dtype(GridSampleView::In::grid), context.who(), [&]<class G>() {
      read_ = [](const void* grid, std::int64_t i) {
        return C(Arithmetic<G>(static_cast<const G*>(grid)[i]));
      };
    });
  }

  [[nodiscard]] std::size_t rank() const { return rank_; }
  /// The sample at the grid's point `p`, counted over all samples.
  void sample(const Tensor& grid, std::int64_t p, detail::PointSample<C>& point) const {
    std::array<detail::AxisSample<C>, 3> samples;
    for (std::size_t k = 0; k < rank_; ++k) {  // the innermost dimension is first
      samples[2 - k] =
          axes_[2 - k].sample(read_(grid.raw(), p * std::int64_t(rank_) + std::int64_t(k)));
    }
    point.set(samples, sizes_);
  }

 private:
  std::size_t rank_;
  std::array<std::int64_t, 3> sizes_;
  std::array<detail::GridAxis<C>, 3> axes_;
  C (*read_)(const void* grid, std::int64_t i) = nullptr;
};

/// X and Y as batch x channels x elements of a channel.
struct Planes {
  std::int64_t batch, channels, inputs, points;
};

/// Nearest neighbours: one element per point. T moves like the element type; for gradients it is
/// that type.
template <class T, class C>
class NearestGridSampleKernel final : public Kernel {
 public:
  NearestGridSampleKernel(const Planes& planes, const Grid<C>& grid)
      : planes_(planes), grid_(grid) {}

  void forward(OpContext& context) override {
    const T* x = static_cast<const T*>(context.input(GridSampleView::In::X).raw());
    T* y = static_cast<T*>(context.output(0).raw());
    visit(context, [=](std::int64_t from, std::int64_t to) { y[to] = from < 0 ? T() : x[from]; });
  }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      if (context.wants_grad(GridSampleView::In::grid))
        detail::zero_elements(context.grad_input(GridSampleView::In::grid));
      if (!context.wants_grad(GridSampleView::In::X)) return;
      detail::zero_elements(context.grad_input(GridSampleView::In::X));
      const T* dy = context.grad_output(0).data<T>();
      T* dx = context.grad_input(GridSampleView::In::X).data<T>();
      visit(context, [=](std::int64_t from, std::int64_t to) {
        if (from >= 0) dx[from] += dy[to];
      });
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {GridSampleView::In::grid}, .backward_reads_outputs = {}};
  }

 private:
  /// Calls `f(index in X, index in Y)` for every element of Y; -1 if it is zero.
  template <class Context, class F>
  void visit(const Context& context, const F& f) const {
    const auto& [batch, channels, inputs, points] = planes_;
    const Tensor& grid = context.input(GridSampleView::In::grid);
    detail::parallel_for_each(batch, channels * points, 16384, [&](std::int64_t n) {
      detail::PointSample<C> point;
      for (std::int64_t p = 0; p < points; ++p) {
        grid_.sample(grid, n * points + p, point);
        for (std::int64_t c = n * channels; c < (n + 1) * channels; ++c) {
          f(point.count == 0 ? -1 : c * inputs + point.taps[0].offset, c * points + p);
        }
      }
    });
  }

  Planes planes_;
  Grid<C> grid_;
};

template <class T, class C>
class InterpolatingGridSampleKernel final : public Kernel {
  using A = detail::Interpolated<T>;

 public:
  InterpolatingGridSampleKernel(const Planes& planes, const Grid<C>& grid)
      : planes_(planes), grid_(grid) {}

  void forward(OpContext& context) override {
    const auto [batch, channels, inputs, points] = planes_;
    const Tensor& grid = context.input(GridSampleView::In::grid);
    const T* x = context.input(GridSampleView::In::X).data<T>();
    T* y = context.output(0).data<T>();
    detail::parallel_for_each(batch * points, channels * 8, 16384, [&](std::int64_t p) {
      detail::PointSample<C> point;
      grid_.sample(grid, p, point);
      for (std::int64_t c = p / points * channels; c < (p / points + 1) * channels; ++c) {
        const T* from = x + c * inputs;
        A sum = 0;
        for (std::size_t t = 0; t < point.count; ++t) {
          sum += A(point.taps[t].weight) * A(from[point.taps[t].offset]);
        }
        y[c * points + p % points] = detail::rounded<T>(sum);
      }
    });
  }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      const bool wants_x = context.wants_grad(GridSampleView::In::X);
      const bool wants_grid = context.wants_grad(GridSampleView::In::grid);
      const Tensor& grid = context.input(GridSampleView::In::grid);
      const T* x = context.input(GridSampleView::In::X).data<T>();
      const T* dy = context.grad_output(0).data<T>();
      T* dx = wants_x ? context.grad_input(GridSampleView::In::X).data<T>() : nullptr;
      C* dgrid = wants_grid ? context.grad_input(GridSampleView::In::grid).data<C>() : nullptr;
      detail::parallel_for_each(planes_.batch, planes_.channels * planes_.points * 8, 16384,
                                [&](std::int64_t n) { differentiate(n, grid, x, dy, dx, dgrid); });
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override { return {.backward_reads_outputs = {}}; }

 private:
  /// Gradients of sample `n`; `dx` and `dgrid` are null if not wanted.
  void differentiate(std::int64_t n, const Tensor& grid, const T* x, const T* dy, T* dx,
                     C* dgrid) const {
    const auto [batch, channels, inputs, points] = planes_;
    if (dx) std::fill_n(dx + n * channels * inputs, channels * inputs, T(0));
    detail::PointSample<C> point;
    for (std::int64_t p = 0; p < points; ++p) {
      grid_.sample(grid, n * points + p, point);
      std::array<C, 3> slope = {};
      for (std::int64_t c = n * channels; c < (n + 1) * channels; ++c) {
        const T gradient = dy[c * points + p];
        for (std::size_t t = 0; t < point.count; ++t) {
          const auto& tap = point.taps[t];
          const std::int64_t at = c * inputs + tap.offset;
          if (dx) dx[at] += T(tap.weight) * gradient;
          for (std::size_t axis = 0; axis < 3; ++axis)
            slope[axis] += C(x[at]) * C(gradient) * tap.slope[axis];
        }
      }
      for (std::size_t k = 0; dgrid && k < grid_.rank(); ++k) {
        dgrid[(n * points + p) * std::int64_t(grid_.rank()) + std::int64_t(k)] = slope[2 - k];
      }
    }
  }

  Planes planes_;
  Grid<C> grid_;
};

/// Shapes: X is N x C x spatial (one to three), grid is N x output x rank, Y is N x C x output.
class GridSample final : public Operator {
 public:
  explicit GridSample(const GridSampleView& view) : rule_(rule_of(view)) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const Shape &x = context.shape(GridSampleView::In::X),
                &grid = context.shape(GridSampleView::In::grid);
    if (x.rank() < 3 || grid.rank() != x.rank() || grid[0] != x[0] ||
        grid[grid.rank() - 1] != std::int64_t(x.rank()) - 2) {
      throw ShapeError(
          fmt::format("{}: X is {} and grid is {}, expected N x C x spatial and N x output x "
                      "spatial dimensions",
                      context.who(), to_string(x), to_string(grid)));
    }
    if (x.rank() > 5) {
      throw Unsupported(fmt::format("{}: X has {} spatial dimensions, at most 3 are supported",
                                    context.who(), x.rank() - 2));
    }
    Shape y{x[0], x[1]};
    for (std::size_t d = 1; d + 1 < grid.rank(); ++d) y.push_back(grid[d]);
    if (y.elements() > 0 && x.elements() == 0) {
      throw ShapeError(
          fmt::format("{}: X is {}; there is nothing to sample", context.who(), to_string(x)));
    }
    return {TensorDesc{context.dtype(GridSampleView::In::X), y}};
  }

  Places gradients() const override { return {GridSampleView::In::X, GridSampleView::In::grid}; }

  /// By the definition: a product and a sum per neighbour of a point.
  Cost cost(const InferContext& context) const override {
    if (rule_.filter == GridRule::Filter::nearest) return bytes_only(context);
    const double taps = std::pow(rule_.filter == GridRule::Filter::linear ? 2 : 4,
                                 double(context.shape(GridSampleView::In::X).rank() - 2));
    return with_flop(context, 2 * taps * double(infer(context)[0].tensor.elements()));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const DType grid = context.dtype(GridSampleView::In::grid);
    if (context.wants_backward()) {
      detail::expect_type(RealTypes{}, grid, context, "gradient");
    }
    return grid == DType::float64 ? plan_for<double>(context) : plan_for<float>(context);
  }

 private:
  static GridRule rule_of(const GridSampleView& view) {
    using Filter = GridRule::Filter;
    using Padding = GridRule::Padding;
    const onnx::Node& node = view.node();
    GridRule rule;
    rule.filter = node.opset < 20 ? detail::word_of<Filter>(node, "mode", view.mode(),
                                                            {{"bilinear", Filter::linear},
                                                             {"nearest", Filter::nearest},
                                                             {"bicubic", Filter::cubic}})
                                  : detail::word_of<Filter>(node, "mode", view.mode(),
                                                            {{"linear", Filter::linear},
                                                             {"nearest", Filter::nearest},
                                                             {"cubic", Filter::cubic}});
    rule.padding = detail::word_of<Padding>(node, "padding_mode", view.padding_mode(),
                                            {{"zeros", Padding::zeros},
                                             {"border", Padding::border},
                                             {"reflection", Padding::reflection}});
    rule.align_corners = view.align_corners() != 0;
    return rule;
  }

  template <class C>
  [[nodiscard]] std::unique_ptr<Kernel> plan_for(PlanContext& context) const {
    const Shape &x = context.shape(GridSampleView::In::X), &y = context.output(0).shape;
    const Planes planes{x[0], x[1], x.elements(2, x.rank()), y.elements(2, y.rank())};
    const Grid<C> grid(rule_, context);
    if (rule_.filter == GridRule::Filter::nearest) {
      return detail::moving_kernel_for(
          context.dtype(GridSampleView::In::X), context,
          [&]<class T>() { return std::make_unique<NearestGridSampleKernel<T, C>>(planes, grid); });
    }
    return kernel_for(NumberTypes{}, RealTypes{}, context.dtype(GridSampleView::In::X), context,
                      [&]<class T>() {
                        return std::make_unique<InterpolatingGridSampleKernel<T, C>>(planes, grid);
                      });
  }

  GridRule rule_;
};

}  // namespace

void register_grid_sample(OperatorRegistry& registry) {
  registry.add<GridSample, GridSampleView>();
}

}  // namespace d5::ops

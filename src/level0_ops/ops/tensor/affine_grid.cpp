// SPDX-License-Identifier: Apache-2.0
// AffineGrid: an evenly spaced grid of coordinates from -1 to 1, transformed by an affine matrix.
#include <fmt/format.h>

#include <array>
#include <concepts>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"
#include "level0_ops/kernels/parallel_each.hpp"
#include "level0_ops/kernels/sampling/sampling.hpp"

namespace d5::ops {
namespace {

using AffineGridView = onnx::nodes::AffineGrid;

/// The grid of a sample. Missing leading spatial sizes are 1.
struct EvenGrid {
  std::size_t rank;
  std::array<std::int64_t, 3> sizes;
  bool align_corners;

  [[nodiscard]] std::int64_t points() const { return sizes[0] * sizes[1] * sizes[2]; }

  /// Point `p` as the first `rank` of x, y, z, followed by 1.
  template <class A>
  [[nodiscard]] std::array<A, 4> place(std::int64_t p) const {
    std::array<A, 4> result;
    for (std::size_t k = 0; k < rank; ++k) {
      const std::int64_t size = sizes[2 - k];
      const std::int64_t i = p % size;
      p /= size;
      const A steps = A(align_corners ? size - 1 : size);
      // The centre, if there is only one point.
      result[k] = size == 1 ? A(0) : (A(2 * i + (align_corners ? 0 : 1)) - steps) / steps;
    }
    result[rank] = 1;
    return result;
  }
};

template <class T>
class AffineGridKernel final : public Kernel {
  using A = Arithmetic<T>;

 public:
  explicit AffineGridKernel(const EvenGrid& even) : even_(even) {}

  void forward(OpContext& context) override {
    const T* theta = context.input(AffineGridView::In::theta).data<T>();
    const std::size_t rank = even_.rank;
    const std::int64_t points = even_.points(),
                       samples = context.input(AffineGridView::In::theta).shape()[0];
    T* grid = context.output(0).data<T>();
    detail::parallel_for_each(
        samples * points, std::int64_t(rank * rank), 16384, [=, this](std::int64_t p) {
          const auto place = even_.place<A>(p % points);
          const T* matrix = theta + p / points * std::int64_t(rank * (rank + 1));
          for (std::size_t row = 0; row < rank; ++row) {
            A sum = 0;
            for (std::size_t k = 0; k <= rank; ++k) sum += A(*matrix++) * place[k];
            grid[p * std::int64_t(rank) + std::int64_t(row)] = T(sum);
          }
        });
  }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      Tensor& dtheta = context.grad_input(AffineGridView::In::theta);
      detail::zero_elements(dtheta);
      const T* dgrid = context.grad_output(0).data<T>();
      const std::size_t rank = even_.rank;
      const std::int64_t points = even_.points();
      for (std::int64_t p = 0; p < dtheta.shape()[0] * points; ++p) {
        const auto place = even_.place<T>(p % points);
        T* matrix = dtheta.data<T>() + p / points * std::int64_t(rank * (rank + 1));
        for (std::size_t row = 0; row < rank; ++row, ++dgrid) {
          for (std::size_t k = 0; k <= rank; ++k) *matrix++ += *dgrid * place[k];
        }
      }
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }

 private:
  EvenGrid even_;
};

/// Shapes: theta is N x 2 x 3 and size N, C, H, W, or theta is N x 3 x 4 and size N, C, D, H, W;
/// the grid is N x spatial x 2 or 3, a point's x first.
class AffineGrid final : public Operator {
 public:
  explicit AffineGrid(const AffineGridView& view) : align_corners_(view.align_corners() != 0) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const Shape& theta = context.shape(AffineGridView::In::theta);
    const auto size = context.integers(AffineGridView::In::size);
    if (size.is_untold()) return {unknown_shape(context.dtype(0))};
    const auto& dims = size.values();
    const auto rank = std::int64_t(dims.size()) - 2;
    if ((rank != 2 && rank != 3) || theta != Shape{dims[0], rank, rank + 1}) {
      throw ShapeError(fmt::format(
          "{}: theta is {} and size is {}, expected N x 2 x 3 and N, C, H, W, or N x 3 x 4 and "
          "N, C, D, H, W",
          context.who(), to_string(theta), to_string(Shape(dims))));
    }
    Shape grid{dims[0]};
    grid.push_back(dims[2]);
    for (std::size_t d = 3; d < dims.size(); ++d) grid.push_back(dims[d]);
    grid.push_back(rank);
    for (const std::int64_t dim : dims) {
      if (dim >= 0) continue;
      throw ValueError(fmt::format("{}: size holds {}, expected 0 or more", context.who(), dim));
    }
    return {TensorDesc{context.dtype(0), grid}};
  }

  Places gradients() const override { return {AffineGridView::In::theta}; }

  /// A product and a sum per matrix entry and point.
  Cost cost(const InferContext& context) const override {
    const TensorDesc grid = infer(context)[0].tensor;
    if (!grid.shape.is_static()) return bytes_only(context);
    return with_flop(context, 2 * double(grid.elements()) * double(context.shape(0)[2]));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const Shape size(context.integers(AffineGridView::In::size).values());
    const EvenGrid even{size.rank() - 2, detail::spatial_sizes(size), align_corners_};
    return kernel_for(FloatTypes{}, RealTypes{}, context.dtype(0), context,
                      [&]<class T>() { return std::make_unique<AffineGridKernel<T>>(even); });
  }

 private:
  bool align_corners_;
};

}  // namespace

void register_affine_grid(OperatorRegistry& registry) {
  registry.add<AffineGrid, AffineGridView>();
}

}  // namespace d5::ops

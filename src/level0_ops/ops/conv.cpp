// SPDX-License-Identifier: Apache-2.0
// Convolution: y[n, m] = b[m] + sum over c of w[m, c] * x[n, c], as matrix products over columns.
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/columns.hpp"
#include "level0_ops/kernels/convolution.hpp"
#include "level0_ops/kernels/matrix_product.hpp"
#include "level0_ops/kernels/wide_kernel.hpp"

namespace d5::ops {
namespace {

using detail::matrix_product;
using detail::MatrixView;
using detail::OutputRows;

// A tile of columns stays in the second-level cache.
constexpr std::int64_t kTileBytes = 1 << 20;

/// Accumulation order is fixed for a given number of threads.
template <class T>
class ConvKernel final : public Kernel {
 public:
  ConvKernel(const detail::ConvolutionSizes& sizes, PlanContext& context) : s_(sizes) {
    const std::int64_t row = std::max<std::int64_t>(1, depth() * width());
    rows_per_tile_ = std::clamp<std::int64_t>(kTileBytes / std::int64_t(sizeof(T)) / row, 1,
                                              std::max<std::int64_t>(1, rows()));
    tiles_ = (rows() + rows_per_tile_ - 1) / rows_per_tile_;
    chunks_ = detail::Chunks(s_.batch * s_.group * tiles_,
                             double(s_.batch) * double(weight_count()) * double(area()));
    if (!pointwise() || context.wants_grad(0)) {
      columns_size_ = Shape{depth(), width(), rows_per_tile_}.elements();
    }
    std::int64_t scratch = chunks_.count() * columns_size_;
    // Beside its columns, each chunk but the first sums its own gradient of the weights.
    if (context.wants_grad(1)) scratch += (chunks_.count() - 1) * weight_count();
    context.request_scratch(sizeof(T) * std::size_t(scratch));
  }

  void forward(OpContext& context) override {
    convolve(context.input(0).data<T>(), context.input(1).data<T>(),
             context.has_input(2) ? context.input(2).data<T>() : nullptr,
             context.output(0).data<T>(), context.scratch_as<T>());
  }

  void backward(GradContext& context) override {
    const T* dy = context.grad_output(0).data<T>();
    T* scratch = context.scratch_as<T>();
    if (context.wants_grad(0)) {
      input_gradient(context.input(1).data<T>(), dy, context.grad_input(0).data<T>(), scratch);
    }
    if (context.wants_grad(1)) {
      weight_gradient(context.input(0).data<T>(), dy, context.grad_input(1).data<T>(), scratch);
    }
    if (context.wants_grad(2)) {
      detail::bias_gradient(s_.batch, filters(), area(), dy, context.grad_input(2).data<T>());
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {0, 1}, .backward_reads_outputs = {}};
  }

 private:
  std::int64_t filters() const { return s_.group * s_.filters; }
  std::int64_t width() const { return s_.window.axes[2].output; }
  std::int64_t rows() const { return s_.window.axes[0].output * s_.window.axes[1].output; }
  std::int64_t area() const { return s_.window.output_size(); }
  /// The inner size of the products.
  std::int64_t depth() const { return s_.channels * s_.window.kernel_size(); }
  std::int64_t weight_count() const { return filters() * depth(); }
  /// The input itself is the matrix of columns.
  bool pointwise() const {
    return std::all_of(s_.window.axes.begin(), s_.window.axes.end(), [](const WindowAxis& axis) {
      return axis.kernel == 1 && axis.stride == 1 && axis.pad_begin == 0 && axis.pad_end == 0;
    });
  }

  OutputRows tile_rows(std::int64_t tile) const {
    return {tile * rows_per_tile_, std::min((tile + 1) * rows_per_tile_, rows())};
  }
  /// `body(chunk, plane, group, rows)` for every tile; a plane is one group of one sample.
  template <class F>
  void for_each_tile(const F& body) const {
    chunks_.for_each(s_.batch * s_.group * tiles_, [&](std::int64_t chunk, std::int64_t task) {
      const std::int64_t plane = task / tiles_;
      body(chunk, plane, plane % s_.group, tile_rows(task % tiles_));
    });
  }

  /// `x`: of one plane.
  MatrixView<const T> gather(OutputRows tile, const T* x, T* columns) const {
    const std::int64_t count = (tile.end - tile.begin) * width();
    if (pointwise()) return {x + tile.begin * width(), depth(), count, area()};
    detail::gather_columns(s_.window, s_.channels, tile, x, columns);
    return {columns, depth(), count, count};
  }
  std::int64_t input_size() const { return s_.channels * s_.window.input_size(); }
  MatrixView<const T> weights_view(const T* w, std::int64_t g) const {
    return {w + g * s_.filters * depth(), s_.filters, depth(), depth()};
  }
  template <class U>
  MatrixView<U> output_view(U* y, std::int64_t plane, OutputRows tile) const {
    return {y + plane * s_.filters * area() + tile.begin * width(), s_.filters,
            (tile.end - tile.begin) * width(), area()};
  }
  template <class U>
  static MatrixView<const U> transpose(const MatrixView<const U>& m) {
    return {m.data, m.columns, m.rows, m.stride, true};
  }

  void convolve(const T* x, const T* w, const T* b, T* y, T* scratch) const {
    for_each_tile([&](std::int64_t chunk, std::int64_t plane, std::int64_t g, OutputRows tile) {
      const auto columns = gather(tile, x + plane * input_size(), scratch + chunk * columns_size_);
      const MatrixView<T> out = output_view(y, plane, tile);
      for (std::int64_t m = 0; b && m < out.rows; ++m) {
        std::fill_n(out.data + m * out.stride, out.columns, b[g * s_.filters + m]);
      }
      matrix_product<T>(weights_view(w, g), columns, out, T(1), b ? T(1) : T(0));
    });
  }

  void input_gradient(const T* w, const T* dy, T* dx, T* scratch) const {
    chunks_.for_each(s_.batch * s_.group, [&](std::int64_t chunk, std::int64_t plane) {
      T* columns = scratch + chunk * columns_size_;
      T* sum = dx + plane * input_size();
      std::fill_n(sum, input_size(), T(0));
      const auto weights = transpose(weights_view(w, plane % s_.group));
      for (std::int64_t t = 0; t < tiles_; ++t) {
        const OutputRows tile = tile_rows(t);
        const auto gradient = output_view(dy, plane, tile);
        matrix_product<T>(weights, gradient,
                          {columns, depth(), gradient.columns, gradient.columns});
        detail::scatter_columns(s_.window, s_.channels, tile, columns, sum);
      }
    });
  }

  void weight_gradient(const T* x, const T* dy, T* dw, T* scratch) const {
    const std::int64_t size = weight_count();
    T* own_sums = scratch + chunks_.count() * columns_size_;
    const auto sum_of = [&](std::int64_t chunk) {
      return chunk == 0 ? dw : own_sums + (chunk - 1) * size;
    };
    for (std::int64_t c = 0; c < chunks_.count(); ++c) std::fill_n(sum_of(c), size, T(0));
    for_each_tile([&](std::int64_t chunk, std::int64_t plane, std::int64_t g, OutputRows tile) {
      const auto columns = gather(tile, x + plane * input_size(), scratch + chunk * columns_size_);
      matrix_product<T>(output_view(dy, plane, tile), transpose(columns),
                        {sum_of(chunk) + g * s_.filters * depth(), s_.filters, depth(), depth()},
                        T(1), T(1));
    });
    for (std::int64_t chunk = 1; chunk < chunks_.count(); ++chunk) {
      const T* other = sum_of(chunk);
      for (std::int64_t i = 0; i < size; ++i) dw[i] += other[i];
    }
  }

  detail::ConvolutionSizes s_;
  detail::Chunks chunks_;
  std::int64_t rows_per_tile_ = 1, tiles_ = 0;
  std::int64_t columns_size_ = 0;  // of a chunk; 0 where no columns are written
};

/// Shapes: x is N x C x spatial (one to three), w is M x C/group x kernel, b is M;
/// y is N x M x output.
class Conv final : public detail::Convolution {
 public:
  explicit Conv(const onnx::nodes::Conv& view) : Convolution(view) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const auto s = sizes(context);
    return {TensorDesc{context.dtype(0), s.window.output_shape(s.batch, s.filters * group_)}};
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return detail::wide_kernel_for(context, [&]<class T>(PlanContext& wide) {
      return std::make_unique<ConvKernel<T>>(sizes(wide), wide);
    });
  }

 private:
  detail::ConvolutionSizes sizes(const InferContext& context) const override {
    const Shape &x = context.shape(0), &w = context.shape(1);
    check_inputs(context, w.rank() > 0 ? w[0] : 0);
    if (w[1] < 1 || x[1] / w[1] != group_ || x[1] % w[1] != 0 || w[0] % group_ != 0) {
      throw ShapeError(fmt::format(
          "{}: X is {}, W is {} and group is {}; X must have group times W's channels, and the "
          "filters must divide into groups",
          context.who(), to_string(x), to_string(w), group_));
    }
    return {.batch = x[0],
            .group = group_,
            .channels = w[1],
            .filters = w[0] / group_,
            .window = attributes_.resolve(x, kernel(context), context.who())};
  }
};

}  // namespace

void register_conv(OperatorRegistry& registry) { registry.add<Conv, onnx::nodes::Conv>(); }

}  // namespace d5::ops
